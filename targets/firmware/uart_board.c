// The board described by a target.json: its initialization, its UART, and the end of the image. board.cmake generates
// board_config.h from the description. A board with its own board.c does not use this file.
#include "board.h"
#include "board_config.h"
#include "semihosting.h"
#include "system.h"

#include BOARD_UART_DRIVER

void board_init(void) {
  board_start();
  uart_init(BOARD_UART, BOARD_CLOCK_HZ, BOARD_BAUD);
}

#if defined(BOARD_UART_INTERRUPT)
// Sleeps until the UART has received a byte or SysTick wraps. A byte that arrives just before WFI ends it at once. The
// UART's interrupt is enabled only meanwhile, because it has no handler.
static void wait_for_byte(void) {
  interrupt_open(BOARD_UART_INTERRUPT);
  if (!uart_received(BOARD_UART)) interrupt_wait();
  interrupt_close(BOARD_UART_INTERRUPT);
}
#else
static void wait_for_byte(void) {}
#endif

int board_read(void) {
  static int ended;
  if (ended) return -1;
  while (!uart_received(BOARD_UART)) wait_for_byte();
  const uint8_t byte = uart_read(BOARD_UART);
  ended = byte == 0x04;
  return ended ? -1 : byte;
}

void board_write(const char* data, size_t size) {
  for (size_t i = 0; i < size; ++i) uart_write(BOARD_UART, (uint8_t)data[i]);
}

void board_exit(int status) {
#if BOARD_RESETS
  (void)status;
  core_reset();
#else
  semihosting_exit(status);
#endif
}

uint32_t board_ticks_per_second(void) { return BOARD_CLOCK_HZ; }
