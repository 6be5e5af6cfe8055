// Declarations that start-up code, boards and fault handlers share: the symbols of sections.ld and, from one header for
// each family of cores, its registers and instructions.
#ifndef BANTAM_TARGETS_FIRMWARE_SYSTEM_H_
#define BANTAM_TARGETS_FIRMWARE_SYSTEM_H_

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t*)(address))

#if defined(__riscv)
#include "riscv.h"
#else
#include "cortex_m.h"
#endif

// Addresses that sections.ld defines; sizes are addresses too.
extern uint32_t stack_bottom[], stack_top[], handler_stack_bottom[], handler_stack_top[];
extern uint32_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[];
extern uint32_t flash_region_base[], flash_region[], model_region_base[], model_region[], ram_region_base[],
    ram_region[];
extern uint32_t hot_code[], hot_code_end[], hot_load[], hot_begin[], hot_bytes[], hot_region_base[],
    hot_region[];  // if BOARD_HAS_HOT is defined
extern uint32_t flash_begin[], flash_bytes[], model_begin[], model_bytes[], ram_begin[], ram_bytes[];

/// The value of unused stack words, and of the guard between the stacks.
#define STACK_PAINT 0xA5A5A5A5u

/// Makes flash and model read-only and RAM not executable, and makes all other addresses inaccessible if the core's
/// protection allows it, so that accesses below the stack trap (mpu.c, riscv.c).
void mpu_init(void);
/// Starts the counter of board_ticks (ticks.c) and its interrupt.
void ticks_init(void);
void ticks_wrapped(void);
/// The handler of every fault (fault.c): reports over the UART which fault occurred and where, then calls
/// board_exit(128 + exception number).
void fault_entry(void);

#endif  // BANTAM_TARGETS_FIRMWARE_SYSTEM_H_
