// The inner loops of scalar/thumb.h for 16-bit Thumb instructions, most of which can use only r0-r7. The weights of a
// quad are a word, separated by shifts; one load reads four activations. An iteration with two rows takes 27
// instructions for eight products, with one row 19 for four; in cycles of a Cortex-M0+ (its Technical Reference Manual:
// a load 2, LDM of four 5, a taken branch 2, MULS 1 with the fast multiplier, all others 1) 33 and 25.
#include "kernels/scalar/thumb.h"

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
__asm__(R"(
  .syntax unified
  .thumb

@ Weight number \i of the quad in r2, into \to. Changes the flags.
.macro weight to, i
  .if \i == 0
  sxtb \to, r2
  .elseif \i == 3
  asrs \to, r2, #24
  .else
  lsls \to, r2, #(24 - 8 * \i)
  asrs \to, \to, #24
  .endif
.endm

@ Sums of two products of two rows, in the halves of \sum, to those of the rows.
.macro halves sum, low
  sxth \low, \sum
  add r12, \low
  subs \sum, \sum, \low
  asrs \sum, \sum, #16
  add lr, \sum
.endm

@ r0 x, r1 w, r8 the end of x; a quad of x in r3-r6.
  .section .text.bantam_thumb_1, "ax", %progbits
  .global bantam_thumb_1
  .type bantam_thumb_1, %function
  .thumb_func
bantam_thumb_1:
  push {r4-r7, lr}
  mov r12, r3
  mov lr, r1
  mov r1, r2
1:
  ldr r2, [r1]
  adds r1, #64
  ldmia r0!, {r3-r6}
  weight r7, 0
  muls r3, r7
  add r12, r3
  weight r7, 1
  muls r4, r7
  add r12, r4
  weight r7, 2
  muls r5, r7
  add r12, r5
  weight r7, 3
  muls r6, r7
  add r12, r6
  cmp lr, r0
  bne 1b
  mov r0, r12
  pop {r4-r7, pc}
  .size bantam_thumb_1, . - bantam_thumb_1

  .section .text.bantam_thumb_2, "ax", %progbits
  .global bantam_thumb_2
  .type bantam_thumb_2, %function
  .thumb_func
bantam_thumb_2:
  push {r4-r7, lr}
  mov r4, r8
  push {r3, r4}
  ldmia r3!, {r4, r5}
  mov r12, r4
  mov lr, r5
  mov r8, r1
  mov r1, r2
1:
  ldr r2, [r1]
  adds r1, #64
  ldmia r0!, {r3-r6}
  weight r7, 0
  muls r3, r7
  weight r7, 1
  muls r4, r7
  adds r3, r3, r4
  halves r3, r4
  weight r7, 2
  muls r5, r7
  weight r7, 3
  muls r6, r7
  adds r5, r5, r6
  halves r5, r6
  cmp r8, r0
  bne 1b
  pop {r3, r4}
  mov r8, r4
  mov r4, r12
  mov r5, lr
  stmia r3!, {r4, r5}
  pop {r4-r7, pc}
  .size bantam_thumb_2, . - bantam_thumb_2
  .text
)");
#endif
