// The UARTE of nRF52, nRF53 and nRF91, which uses DMA, here one byte at a time. Pins: PSEL.TXD at 0x50C, PSEL.RXD at
// 0x514.
#include "system.h"

static volatile uint8_t uarte_received, uarte_sent;  // DMA can only read and write RAM

static inline void uart_init(uint32_t base, uint32_t clock_hz, uint32_t baud) {
  (void)clock_hz;
  REGISTER(base + 0x524) =
      ((uint32_t)(((uint64_t)baud << 32) / 16000000u) + 0x800u) & ~0xFFFu;  // BAUDRATE, as nrf-uart.h
  REGISTER(base + 0x500) = 8;                                               // ENABLE
  REGISTER(base + 0x534) = (uint32_t)(uintptr_t)&uarte_received;            // RXD.PTR
  REGISTER(base + 0x538) = 1;                                               // RXD.MAXCNT
  REGISTER(base + 0x544) = (uint32_t)(uintptr_t)&uarte_sent;                // TXD.PTR
  REGISTER(base + 0x548) = 1;                                               // TXD.MAXCNT
  REGISTER(base + 0x110) = 0;                                               // ENDRX
  REGISTER(base + 0x304) = 1u << 4;                                         // INTENSET: ENDRX
  REGISTER(base + 0x000) = 1;                                               // STARTRX
}

static inline int uart_received(uint32_t base) {
  return REGISTER(base + 0x110) != 0;  // ENDRX
}

static inline uint8_t uart_read(uint32_t base) {
  const uint8_t byte = uarte_received;
  REGISTER(base + 0x110) = 0;
  REGISTER(base + 0x000) = 1;  // STARTRX: for the next one
  return byte;
}

static inline void uart_write(uint32_t base, uint8_t byte) {
  uarte_sent = byte;
  REGISTER(base + 0x120) = 0;  // ENDTX
  REGISTER(base + 0x008) = 1;  // STARTTX
  while (REGISTER(base + 0x120) == 0) {
  }
}
