// From reset to main on a Cortex-M: vectors, FPU, .data and .bss, and main's own stack, filled with a pattern.
#include "board.h"
#include "board_config.h"
#include "fill_memory.h"
#include "system.h"

int main(void);
void reset(void);

typedef void (*Vector)(void);

// A board with peripheral interrupts appends its own vectors in section .vectors.board.
__attribute__((used, section(".vectors"))) static const Vector kVectors[16] = {
    (Vector)(uintptr_t)handler_stack_top,
    reset,
    fault_entry,  // NMI
    fault_entry,  // HardFault
    fault_entry,  // MemManage
    fault_entry,  // BusFault
    fault_entry,  // UsageFault
    fault_entry,  // SecureFault
    fault_entry,
    fault_entry,
    fault_entry,
    fault_entry,  // SVCall
    fault_entry,  // DebugMonitor
    fault_entry,
    fault_entry,  // PendSV
    ticks_wrapped,
};

static void __attribute__((noreturn, used)) run(void) {
  board_init();
  board_exit(main());
}

// Runs on the handlers' stack, before any data is initialized.
static void __attribute__((noreturn, used)) prepare(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  SCB_CPACR |= 0xFu << 20;  // coprocessors 10 and 11: FPU and MVE
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
#if defined(__ARM_FEATURE_MVE)
  // LOB: low-overhead loops (LE) keep their branch information; without it, each iteration fetches it again
  SCB_CCR |= 1u << 19;
#endif
  SCB_VTOR = (uint32_t)(uintptr_t)kVectors;
  SCB_SHCSR |= 7u << 16;  // MemManage, BusFault and UsageFault get their own handlers (Armv6-M: ignored)
  fill_memory();
  mpu_init();
  ticks_init();
  // main gets the process stack, so that a fault is handled even after that has overflowed.
#if __ARM_ARCH >= 8
  __asm__ volatile("msr psplim, %0\n msr msplim, %1" ::"r"(stack_bottom), "r"(handler_stack_bottom));
#endif
  __asm__ volatile(
      "msr psp, %0\n"
      "movs r0, #2\n"
      "msr control, r0\n"
      "isb\n"
      "bl run\n" ::"r"(stack_top)
      : "r0", "memory");
  __builtin_unreachable();
}

void reset(void) { prepare(); }
