// The UART of Arm's CMSDK and semihosting: what the boards that QEMU emulates have in common.
#ifndef BANTAM_TARGETS_FIRMWARE_CMSDK_H_
#define BANTAM_TARGETS_FIRMWARE_CMSDK_H_

#include "board.h"
#include "system.h"

static inline void cmsdk_uart_init(uint32_t base, uint32_t clock_hz) {
  REGISTER(base + 16) = clock_hz / 115200;  // BAUDDIV
  REGISTER(base + 8) = 3;                   // CTRL: transmitter and receiver on
}

static inline uint8_t cmsdk_uart_read(uint32_t base) {
  while ((REGISTER(base + 4) & 2u) == 0) {  // STATE: receive buffer full
  }
  return (uint8_t)REGISTER(base);
}

static inline void cmsdk_uart_write(uint32_t base, uint8_t byte) {
  while ((REGISTER(base + 4) & 1u) != 0) {  // STATE: transmit buffer full
  }
  REGISTER(base) = byte;
}

/// SYS_EXIT_EXTENDED of Arm's semihosting: the emulator or the debugger ends with `status`.
static inline void __attribute__((noreturn)) semihosting_exit(int status) {
  const uint32_t block[2] = {0x20026u /* ADP_Stopped_ApplicationExit */, (uint32_t)status};
  register uint32_t operation __asm__("r0") = 0x20;
  register const uint32_t* argument __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
  for (;;) {
  }
}

#endif  // BANTAM_TARGETS_FIRMWARE_CMSDK_H_
