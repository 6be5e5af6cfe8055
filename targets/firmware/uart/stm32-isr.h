// The USART of STM32 F0, F3, F7, G, H, L4, L5, U and WB, which has a data register for each direction.
#include "system.h"

static inline void uart_init(uint32_t base, uint32_t clock_hz, uint32_t baud) {
  REGISTER(base + 0x0C) = (clock_hz + baud / 2) / baud;      // BRR, 16 samples per bit
  REGISTER(base + 0x00) = 1u << 5 | 1u << 3 | 1u << 2 | 1u;  // CR1: receive interrupt, transmitter, receiver, on; 8N1
}

static inline int uart_received(uint32_t base) {
  REGISTER(base + 0x20) = 1u << 3;                // ICR: clear an overrun, so that it stops nothing
  return (REGISTER(base + 0x1C) & 1u << 5) != 0;  // ISR: RXNE
}

static inline uint8_t uart_read(uint32_t base) { return (uint8_t)REGISTER(base + 0x24); }

static inline void uart_write(uint32_t base, uint8_t byte) {
  while ((REGISTER(base + 0x1C) & 1u << 7) == 0) {  // ISR: TXE
  }
  REGISTER(base + 0x28) = byte;
}
