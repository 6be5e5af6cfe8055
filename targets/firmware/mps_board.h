// board.c of Arm's MPS2 and MPS3 FPGA images. A board.c defines BOARD_UART and BOARD_CLOCK_HZ, then includes this.
#ifndef BANTAM_TARGETS_FIRMWARE_MPS_BOARD_H_
#define BANTAM_TARGETS_FIRMWARE_MPS_BOARD_H_

#include "cmsdk.h"

void board_init(void) { cmsdk_uart_init(BOARD_UART, BOARD_CLOCK_HZ); }

int board_read(void) {
  static int ended;
  if (ended) return -1;
  const uint8_t byte = cmsdk_uart_read(BOARD_UART);
  ended = byte == 0x04;
  return ended ? -1 : byte;
}

void board_write(const char* data, size_t size) {
  for (size_t i = 0; i < size; ++i) cmsdk_uart_write(BOARD_UART, (uint8_t)data[i]);
}

void board_exit(int status) { semihosting_exit(status); }

uint32_t board_ticks_per_second(void) { return BOARD_CLOCK_HZ; }

#endif  // BANTAM_TARGETS_FIRMWARE_MPS_BOARD_H_
