// The USART of STM32 F1, F2, F4 and L1, which has one status register and one data register.
#include "system.h"

static inline void uart_init(uint32_t base, uint32_t clock_hz, uint32_t baud) {
  REGISTER(base + 0x08) = (clock_hz + baud / 2) / baud;  // BRR, 16 samples per bit
  REGISTER(base + 0x0C) =
      1u << 13 | 1u << 5 | 1u << 3 | 1u << 2;  // CR1: on, receive interrupt, transmitter, receiver; 8N1
}

static inline int uart_received(uint32_t base) {
  return (REGISTER(base) & 1u << 5) != 0;  // SR: RXNE
}

static inline uint8_t uart_read(uint32_t base) { return (uint8_t)REGISTER(base + 0x04); }

static inline void uart_write(uint32_t base, uint8_t byte) {
  while ((REGISTER(base) & 1u << 7) == 0) {  // SR: TXE
  }
  REGISTER(base + 0x04) = byte;
}
