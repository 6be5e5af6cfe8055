// Cortex-M: registers at addresses that all cores share, and how a core waits for an interrupt. Included by system.h.
#ifndef BANTAM_TARGETS_FIRMWARE_CORTEX_M_H_
#define BANTAM_TARGETS_FIRMWARE_CORTEX_M_H_

// System control block.
#define SCB_VTOR REGISTER(0xE000ED08)
#define SCB_AIRCR REGISTER(0xE000ED0C)
#define SCB_CCR REGISTER(0xE000ED14)
#define SCB_SHCSR REGISTER(0xE000ED24)
#define SCB_CFSR REGISTER(0xE000ED28)
#define SCB_MMFAR REGISTER(0xE000ED34)
#define SCB_BFAR REGISTER(0xE000ED38)
#define SCB_CPACR REGISTER(0xE000ED88)
// Interrupt controller: the registers of interrupt `number`, and its bit in them.
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

// An interrupt without a handler is enabled from interrupt_open to interrupt_close. Interrupts are masked meanwhile,
// but an enabled, pending interrupt ends WFI even then.
static inline void interrupt_open(uint32_t number) {
  __asm__ volatile("cpsid i" ::: "memory");
  NVIC_ISER(number) = NVIC_BIT(number);
}
static inline void interrupt_wait(void) { __asm__ volatile("dsb\n wfi" ::: "memory"); }
static inline void interrupt_close(uint32_t number) {
  NVIC_ICER(number) = NVIC_BIT(number);
  NVIC_ICPR(number) = NVIC_BIT(number);
  __asm__ volatile("dsb\n cpsie i\n isb" ::: "memory");  // SysTick's handler runs here
}

static inline void __attribute__((noreturn)) core_reset(void) {
  SCB_AIRCR = 0x05FA0004u;  // SYSRESETREQ
  for (;;) {
  }
}

#endif  // BANTAM_TARGETS_FIRMWARE_CORTEX_M_H_
