// Arm's PL011, as on RP2040, RP2350, Stellaris and Musca.
#include "system.h"

static int pl011_early = -1;  // a byte received before uart_init(); switching on the FIFO would discard it

static inline void uart_init(uint32_t base, uint32_t clock_hz, uint32_t baud) {
  if ((REGISTER(base + 0x18) & 1u << 4) == 0) pl011_early = (uint8_t)REGISTER(base);
  const uint32_t divider = (clock_hz * 4 + baud / 2) / baud;  // clock / (16 * baud) in 64ths
  REGISTER(base + 0x30) = 0;                                  // CR: off during changes
  REGISTER(base + 0x24) = divider >> 6;                       // IBRD
  REGISTER(base + 0x28) = divider & 63u;                      // FBRD
  REGISTER(base + 0x2C) = 3u << 5 | 1u << 4;                  // LCR_H: 8N1, FIFOs
  REGISTER(base + 0x38) = 1u << 6 | 1u << 4;                  // IMSC: received bytes, at once or after a timeout
  REGISTER(base + 0x30) = 1u << 9 | 1u << 8 | 1u;             // CR: receiver, transmitter, on
}

static inline int uart_received(uint32_t base) {
  return pl011_early >= 0 || (REGISTER(base + 0x18) & 1u << 4) == 0;  // FR: RXFE
}

static inline uint8_t uart_read(uint32_t base) {
  if (pl011_early >= 0) {
    const uint8_t byte = (uint8_t)pl011_early;
    pl011_early = -1;
    return byte;
  }
  return (uint8_t)REGISTER(base);
}

static inline void uart_write(uint32_t base, uint8_t byte) {
  while ((REGISTER(base + 0x18) & 1u << 5) != 0) {  // FR: TXFF
  }
  REGISTER(base) = byte;
}
