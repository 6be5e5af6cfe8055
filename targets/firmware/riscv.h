// RISC-V in machine mode: control registers, and interrupts through the platform's interrupt controller (PLIC), which
// is at this address in QEMU's virt and SiFive's chips. Included by system.h.
#ifndef BANTAM_TARGETS_FIRMWARE_RISCV_H_
#define BANTAM_TARGETS_FIRMWARE_RISCV_H_

#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"(value) : "memory")
#define CSR_SET(name, bits) __asm__ volatile("csrs " #name ", %0" ::"r"(bits) : "memory")

#define PLIC_PRIORITY(number) REGISTER(0x0C000000 + (number)*4)
#define PLIC_ENABLE(number) REGISTER(0x0C002000 + (number) / 32 * 4)  // of hart 0 in machine mode
#define PLIC_THRESHOLD REGISTER(0x0C200000)
#define PLIC_CLAIM REGISTER(0x0C200004)
#define PLIC_BIT(number) (1u << (number) % 32)

// An interrupt without a handler is enabled from interrupt_open to interrupt_close. mstatus.MIE stays 0; a pending
// interrupt ends WFI even then.
static inline void interrupt_open(uint32_t number) {
  PLIC_PRIORITY(number) = 1;
  PLIC_THRESHOLD = 0;
  PLIC_ENABLE(number) |= PLIC_BIT(number);
  CSR_SET(mie, 1u << 11);  // MEIE
}
static inline void interrupt_wait(void) { __asm__ volatile("wfi" ::: "memory"); }
static inline void interrupt_close(uint32_t number) {
  PLIC_CLAIM = PLIC_CLAIM;  // claimed and completed
  PLIC_ENABLE(number) &= ~PLIC_BIT(number);
}

/// Chips have no common reset; a board's own board.c can use its chip's.
static inline void __attribute__((noreturn)) core_reset(void) {
  for (;;) interrupt_wait();
}

#endif  // BANTAM_TARGETS_FIRMWARE_RISCV_H_
