// The UART of nRF51 and nRF52 (on nRF52 at the same address as UARTE). Pins: PSELTXD at 0x50C, PSELRXD at 0x514.
#include "system.h"

// BAUDRATE is baud * 2^32 / 16 MHz, rounded to a multiple of 4096, whatever the core's clock rate.
static inline void uart_init(uint32_t base, uint32_t clock_hz, uint32_t baud) {
  (void)clock_hz;
  REGISTER(base + 0x524) = ((uint32_t)(((uint64_t)baud << 32) / 16000000u) + 0x800u) & ~0xFFFu;
  REGISTER(base + 0x500) = 4;  // ENABLE
  REGISTER(base + 0x108) = 0;  // RXDRDY
  REGISTER(base + 0x304) = 4;  // INTENSET: RXDRDY
  REGISTER(base + 0x000) = 1;  // STARTRX
  REGISTER(base + 0x008) = 1;  // STARTTX
}

static inline int uart_received(uint32_t base) {
  return REGISTER(base + 0x108) != 0;  // RXDRDY
}

static inline uint8_t uart_read(uint32_t base) {
  REGISTER(base + 0x108) = 0;
  return (uint8_t)REGISTER(base + 0x518);  // RXD
}

static inline void uart_write(uint32_t base, uint8_t byte) {
  REGISTER(base + 0x11C) = 0;     // TXDRDY
  REGISTER(base + 0x51C) = byte;  // TXD
  while (REGISTER(base + 0x11C) == 0) {
  }
}
