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

/// Waits for the next byte of the UART, 0..255. The byte 0x04 (end of transmission) ends the input: from then on -1.
int board_read(void);

/// Sends all bytes; waits while the UART is busy. Also called by the fault report, so it must not need interrupts.
void board_write(const char* data, size_t size);

/// Ends the image; never returns. main's result comes here, 128 + exception number after a fault. Under a debugger or
/// QEMU the status becomes the exit code (semihosting); a product resets instead.
void board_exit(int status) __attribute__((noreturn));

/// Returns 1 if the model may be used. Called before any byte of it is read. The example has a weak definition that
/// returns 1; a board that checks signatures defines its own, by its boot loader, its secure element or a library.
int board_accepts_model(const void* bytes, size_t size);

/// Counts of the core's SysTick per second: the core's clock. Under QEMU with `-icount shift=0` every instruction takes
/// 1 ns, so n ticks are n * (1e9 / board_ticks_per_second()) instructions: 40 a tick at 25 MHz.
uint32_t board_ticks_per_second(void);

/// SysTick counts since start, modulo 2^32 (ticks.c, the same on every Cortex-M; wraps are counted by interrupt).
uint32_t board_ticks(void);

/// The size of main's stack in bytes (linker option stack_bytes), and the most of it that was ever used: the start-up
/// code paints the stack, and stack_high_water looks how far the paint is gone. O(stack).
size_t stack_size(void);
size_t stack_high_water(void);

#ifdef __cplusplus
}
#endif

#endif  // BANTAM_TARGETS_FIRMWARE_BOARD_H_
