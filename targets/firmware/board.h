// The functions that an image needs from a board. targets/cortex-*/board.c implements them; a real board needs its own.
#ifndef BANTAM_TARGETS_FIRMWARE_BOARD_H_
#define BANTAM_TARGETS_FIRMWARE_BOARD_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Sets up clocks, caches and the UART. Called once before main, after .data and .bss are set up and the MPU is on.
void board_init(void);

/// Waits for the next byte from the UART, 0..255. The byte 0x04 (end of transmission) ends the input; from then on
/// returns -1.
int board_read(void);

/// Sends all bytes, and waits while the UART is busy. The fault report calls it too, so it must not need interrupts.
void board_write(const char* data, size_t size);

/// Ends the image; never returns. `status` is main's result, or 128 + exception number after a fault. Under a debugger
/// or QEMU it becomes the exit code (semihosting); a product resets instead.
void board_exit(int status) __attribute__((noreturn));

/// Returns 1 if the model may be used. It is called before any byte of the model is read. The example has a weak
/// definition that returns 1; a board that checks signatures defines its own, with its boot loader, its secure element
/// or a library.
int board_accepts_model(const void* bytes, size_t size);

/// Returns the SysTick counts per second, which is the core's clock rate. Under QEMU with `-icount shift=0`, every
/// instruction takes 1 ns, so n ticks are n * (1e9 / board_ticks_per_second()) instructions: 40 per tick at 25 MHz.
uint32_t board_ticks_per_second(void);

/// Returns the SysTick count since start, modulo 2^32 (ticks.c, the same on every Cortex-M; an interrupt counts wraps).
uint32_t board_ticks(void);

/// The size of main's stack in bytes (linker option stack_bytes), and the largest part of it that has been used. The
/// start-up code fills the stack with a pattern, and stack_high_water finds how much of the pattern is overwritten.
/// O(stack).
size_t stack_size(void);
size_t stack_high_water(void);

#ifdef __cplusplus
}
#endif

#endif  // BANTAM_TARGETS_FIRMWARE_BOARD_H_
