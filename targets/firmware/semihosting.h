// Calls that a debugger or an emulator serves for an image: Arm's semihosting, which RISC-V has adopted.
#ifndef BANTAM_TARGETS_FIRMWARE_SEMIHOSTING_H_
#define BANTAM_TARGETS_FIRMWARE_SEMIHOSTING_H_

#include <stdint.h>

/// Calls an operation. Without a debugger, the call causes a fault.
static inline int semihosting_call(uint32_t operation, const volatile void* argument) {
#if defined(__riscv)
  register uint32_t result __asm__("a0") = operation;
  register const volatile void* block __asm__("a1") = argument;
  __asm__ volatile(
      ".balign 16\n .option push\n .option norvc\n"
      "slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n"
      ".option pop\n"
      : "+r"(result)
      : "r"(block)
      : "memory");
#else
  register uint32_t result __asm__("r0") = operation;
  register const volatile void* block __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(result) : "r"(block) : "memory");
#endif
  return (int)result;
}

/// SYS_EXIT_EXTENDED: ends the emulator or the debugging session with `status`.
static inline void __attribute__((noreturn)) semihosting_exit(int status) {
  const uint32_t block[2] = {0x20026u /* ADP_Stopped_ApplicationExit */, (uint32_t)status};
  semihosting_call(0x20, block);
  for (;;) {
  }
}

#endif  // BANTAM_TARGETS_FIRMWARE_SEMIHOSTING_H_
