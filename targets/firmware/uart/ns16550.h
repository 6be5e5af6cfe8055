// The UART of PCs, which QEMU's virt and many RISC-V chips have: registers of one byte, one after the other.
#include "system.h"

#define NS16550(base, number) (*(volatile uint8_t*)((base) + (number)))

static inline void uart_init(uint32_t base, uint32_t clock_hz, uint32_t baud) {
  const uint32_t divider = (clock_hz + baud * 8) / (baud * 16);
  NS16550(base, 3) = 0x83;  // LCR: 8N1; the first two registers are now the divider
  NS16550(base, 0) = (uint8_t)divider;
  NS16550(base, 1) = (uint8_t)(divider >> 8);
  NS16550(base, 3) = 0x03;
  NS16550(base, 2) = 0x01;  // FCR: FIFOs
  NS16550(base, 1) = 0x01;  // IER: receive interrupt
}

static inline int uart_received(uint32_t base) {
  return (NS16550(base, 5) & 1u) != 0;  // LSR: data ready
}

static inline uint8_t uart_read(uint32_t base) { return NS16550(base, 0); }

static inline void uart_write(uint32_t base, uint8_t byte) {
  while ((NS16550(base, 5) & 1u << 5) == 0) {  // LSR: THR empty
  }
  NS16550(base, 0) = byte;
}
