// The UART of Arm's CMSDK, as in the FPGA images of MPS2 and MPS3.
#include "system.h"

static inline void uart_init(uint32_t base, uint32_t clock_hz, uint32_t baud) {
  REGISTER(base + 16) = clock_hz / baud;  // BAUDDIV
  REGISTER(base + 8) = 3 | 8;             // CTRL: transmitter and receiver on, receive interrupt
}

static inline int uart_received(uint32_t base) {
  return (REGISTER(base + 4) & 2u) != 0;  // STATE: receive buffer full
}

static inline uint8_t uart_read(uint32_t base) {
  REGISTER(base + 12) = 2;  // INTCLEAR: the receive interrupt stays pending until this
  return (uint8_t)REGISTER(base);
}

static inline void uart_write(uint32_t base, uint8_t byte) {
  while ((REGISTER(base + 4) & 1u) != 0) {  // STATE: transmit buffer full
  }
  REGISTER(base) = byte;
}
