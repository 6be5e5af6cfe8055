// The board that a target.json describes: its first settings, its UART, its end. board_config.h is written from the description
// by board.cmake. A folder with a board.c of its own has that instead.
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
// Sleeps until the UART has received, or until SysTick wraps. While interrupts are masked, one that is enabled and pending ends WFI all
// the same, so that this needs no handler, and a byte that comes just before WFI ends it at once. The UART's is enabled only meanwhile: nobody
// handles it.
static void wait_for_byte(void) {
  __asm__ volatile("cpsid i" ::: "memory");
  NVIC_ISER(BOARD_UART_INTERRUPT) = NVIC_BIT(BOARD_UART_INTERRUPT);
  if (!uart_received(BOARD_UART)) __asm__ volatile("dsb\n wfi" ::: "memory");
  NVIC_ICER(BOARD_UART_INTERRUPT) = NVIC_BIT(BOARD_UART_INTERRUPT);
  NVIC_ICPR(BOARD_UART_INTERRUPT) = NVIC_BIT(BOARD_UART_INTERRUPT);
  __asm__ volatile("dsb\n cpsie i\n isb" ::: "memory");  // SysTick's handler runs here
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
  SCB_AIRCR = 0x05FA0004u;  // SYSRESETREQ
  for (;;) {
  }
#else
  semihosting_exit(status);
#endif
}

uint32_t board_ticks_per_second(void) { return BOARD_CLOCK_HZ; }
