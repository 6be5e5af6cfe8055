// Reports which fault of a Cortex-M occurred and where, and ends the image.
#include "board.h"
#include "put.h"
#include "system.h"

static const char* fault_name(uint32_t exception) {
  switch (exception) {
    case 2:
      return "NMI";
    case 3:
      return "hard fault";
    case 4:
      return "memory management";
    case 5:
      return "bus";
    case 6:
      return "usage";
    case 7:
      return "secure";
    default:
      return "unexpected exception";
  }
}

// `frame`: where the core has put, or would have put, r0-r3, r12, lr, pc and xpsr. `from`: EXC_RETURN, which tells
// whether main or another handler was interrupted.
static void __attribute__((noreturn, used)) fault_report(const uint32_t* frame, uint32_t from) {
  uint32_t exception;
  __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
#if __ARM_ARCH >= 7
  const uint32_t status = SCB_CFSR;
#else
  const uint32_t status = 0;  // Armv6-M has no such register
#endif
  const uint32_t kStackingFailed = 1u << 4 | 1u << 12;
  const uint32_t kLimit = 1u << 20;  // STKOF: below the stack limit register
  const int handler = (from & 8u) == 0;
  const uint32_t* const bottom = handler ? handler_stack_bottom : stack_bottom;
  const uint32_t* const top = handler ? handler_stack_top : stack_top;
  int overflow = (status & kLimit) != 0 || frame < bottom;
#if __ARM_ARCH < 7
  overflow |= stack_top[7] != STACK_PAINT;  // the highest word of the guard, which the MPU does not protect here
#endif
  put("\nfault: ");
  put(handler ? "in a handler, " : "");
  put(overflow ? "stack overflow, " : "");
  put(fault_name(exception));
  const int in_stack = frame >= bottom && frame + 8 <= top;
  if (in_stack && (status & (kStackingFailed | kLimit)) == 0) put_hex(", pc", frame[6]);
#if __ARM_ARCH >= 7
  put_hex(", status", status);
  if ((status & 1u << 7) != 0) put_hex(", address", SCB_MMFAR);
  if ((status & 1u << 15) != 0) put_hex(", address", SCB_BFAR);
#endif
  put_hex(", sp", (uint32_t)frame);
  put("\n");
  board_exit(128 + (int)exception);
}

// The program is over, so the report uses the free part of main's stack: below main's frame or, if little is left there
// or the stack pointer is invalid, at the top.
void __attribute__((naked)) fault_entry(void) {
  __asm__ volatile(
      ".syntax unified\n"
#if __ARM_ARCH >= 8
      "movs r0, #0\n"
      "msr msplim, r0\n"  // the limit for the handlers' stack is higher than main's stack
#endif
      "mrs r3, msp\n"
      "mrs r0, psp\n"
      "ldr r1, =stack_top\n"
      "cmp r0, r1\n"
      "bhs 1f\n"
      "ldr r2, =stack_bottom + 512\n"
      "cmp r0, r2\n"
      "blo 1f\n"
      "mov r1, r0\n"
      "1: msr msp, r1\n"
      "mov r1, lr\n"
      "lsls r2, r1, #29\n"  // EXC_RETURN's bit 2: the frame is on the process stack
      "bmi 2f\n"
      "mov r0, r3\n"
      "2: ldr r2, =fault_report\n"
      "bx r2\n"
      ".ltorg\n");
}
