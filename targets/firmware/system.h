// Registers that every Cortex-M has at the same address, and the symbols of sections.ld.
#ifndef BANTAM_TARGETS_FIRMWARE_SYSTEM_H_
#define BANTAM_TARGETS_FIRMWARE_SYSTEM_H_

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t*)(address))

// System control block.
#define SCB_VTOR REGISTER(0xE000ED08)
#define SCB_AIRCR REGISTER(0xE000ED0C)
#define SCB_CCR REGISTER(0xE000ED14)
#define SCB_SHCSR REGISTER(0xE000ED24)
#define SCB_CFSR REGISTER(0xE000ED28)
#define SCB_MMFAR REGISTER(0xE000ED34)
#define SCB_BFAR REGISTER(0xE000ED38)
#define SCB_CPACR REGISTER(0xE000ED88)
// Interrupt controller: registers of interrupt `number`, and its bit there.
#define NVIC_ISER(number) REGISTER(0xE000E100 + (number) / 32 * 4)
#define NVIC_ICER(number) REGISTER(0xE000E180 + (number) / 32 * 4)
#define NVIC_ICPR(number) REGISTER(0xE000E280 + (number) / 32 * 4)
#define NVIC_BIT(number) (1u << (number) % 32)
// SysTick.
#define SYST_CSR REGISTER(0xE000E010)
#define SYST_RVR REGISTER(0xE000E014)
#define SYST_CVR REGISTER(0xE000E018)
// Memory protection unit.
#define MPU_TYPE REGISTER(0xE000ED90)
#define MPU_CTRL REGISTER(0xE000ED94)
#define MPU_RNR REGISTER(0xE000ED98)
#define MPU_RBAR REGISTER(0xE000ED9C)
#define MPU_RASR REGISTER(0xE000EDA0)  // PMSAv6 and v7
#define MPU_RLAR REGISTER(0xE000EDA0)  // PMSAv8
#define MPU_MAIR0 REGISTER(0xE000EDC0)

// Addresses that sections.ld defines; sizes are addresses too.
extern uint32_t stack_bottom[], stack_top[], handler_stack_bottom[], handler_stack_top[];
extern uint32_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[];
extern uint32_t flash_region_base[], flash_region[], model_region_base[], model_region[], ram_region_base[],
    ram_region[];
extern uint32_t hot_code[], hot_code_end[], hot_load[], hot_begin[], hot_bytes[], hot_region_base[],
    hot_region[];  // where BOARD_HAS_HOT
extern uint32_t flash_begin[], flash_bytes[], model_begin[], model_bytes[], ram_begin[], ram_bytes[];

/// What stack that was never used holds, and the guard between the stacks.
#define STACK_PAINT 0xA5A5A5A5u

/// Flash and model read-only, RAM not executable, nothing else mapped: what lies below the stack traps (mpu.c).
void mpu_init(void);
/// Starts the counter behind board_ticks (ticks.c) and its interrupt.
void ticks_init(void);
void ticks_wrapped(void);
/// The handler of every fault (fault.c): says which and where over the UART, then board_exit(128 + exception number).
void fault_entry(void);

#endif  // BANTAM_TARGETS_FIRMWARE_SYSTEM_H_
