// The inner loops of mve/vmladava.h. Three rows by two outputs: five contiguous loads of 16 bytes and six VMLADAVA for
// 96 products; VMLADAVA accumulates in even registers, pointers are in the odd ones. Loads and VMLADAVA alternate so
// that a core with two beats per cycle overlaps them. The loop is unrolled twice; if K / 16 is odd, its first iteration
// begins in the middle.
#include "kernels/mve/vmladava.h"

__asm__(R"(
  .syntax unified
  .thumb

.macro sixteen_1
  vldrb.u8 q0, [r7], #16
  vldrb.u8 q2, [r1], #16
  vmladava.s8 r0, q2, q0
  vldrb.u8 q1, [r9], #16
  vmladava.s8 r6, q2, q1
.endm
.macro sixteen_2
  sixteen_1
  vldrb.u8 q3, [r3], #16
  vmladava.s8 r2, q3, q0
  vmladava.s8 r8, q3, q1
.endm
.macro sixteen_3
  sixteen_2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q2, q0
  vmladava.s8 r10, q2, q1
.endm

@ Stack: 0 x[3], 12 where the first round begins, 16 sums, 20 stride, 24 sums_end.
@ r7, r9 weights of two outputs, r11 rounds, r12 bytes of a row of weights.
.macro rows count
  .section .text.bantam_helium_\count, "ax", %progbits
  .global bantam_helium_\count
  .type bantam_helium_\count, %function
  .thumb_func
  .balign 4
bantam_helium_\count:
  push {r4-r11, lr}
  ldmia r0, {r1-r7, r12}
  add r9, r7, r12
  add r11, r12, #16
  lsr r11, r11, #5
  adr r8, 2f
  tst r12, #16
  it ne
  adrne r8, 3f
  orr r8, r8, #1
  push {r1-r3}
  push {r4-r6, r8}
1:
  clrm {r0, r2, r4, r6, r8, r10}
  dls lr, r11
  ldmia.w sp, {r1, r3, r5, pc}
  .balign 4
2:
  sixteen_\count
  .balign 4
3:
  sixteen_\count
  le lr, 2b
  mov r7, r9
  add r9, r9, r12
  ldrd r1, r3, [sp, #16]
  strd r0, r6, [r1]
  .if \count > 1
  add r5, r1, r3
  strd r2, r8, [r5]
  .endif
  .if \count > 2
  add r5, r5, r3
  strd r4, r10, [r5]
  .endif
  ldr r3, [sp, #24]
  adds r1, r1, #8
  str r1, [sp, #16]
  cmp r1, r3
  bne 1b
  add sp, sp, #28
  pop {r4-r11, pc}
  .size bantam_helium_\count, . - bantam_helium_\count
.endm

  rows 1
  rows 2
  rows 3
  .text
)");
