// The inner loops of dsp/smlad.h. A quad takes one load and two SXTB16 for an output's weights, directly from the
// file's tiles, and two SMLAD per row. All registers not used by sums (from r0 on), weights (r10, r11) and pointers
// (r12, lr) hold activations, so that a load of eight serves four quads of one row or two of two rows, one of six a
// quad of three rows, and three loads two quads of four rows: 25 instructions for 32 products. Six rows leave four
// registers: 18 instructions for 24 products. Other values are on the stack and read once per output.
// Quads that share loads form a group. First come those that do not form a whole group, one by one; then the loop over
// groups, unrolled to eight quads, or four for row counts that occur only as a remainder. Its first iteration begins in
// the middle, so that the number of groups comes out even. Every instruction of a group is 32 bits wide, so both entry
// points are computed.
#include "kernels/dsp/smlad.h"

#include "linked.h"

#if BANTAM_LINK_ROWS < 2
#define BANTAM_UNROLL_1 "8"
#else
#define BANTAM_UNROLL_1 "4"
#endif
#if BANTAM_LINK_ROWS < 4
#define BANTAM_UNROLL_2 "8"
#else
#define BANTAM_UNROLL_2 "4"
#endif
#if BANTAM_LINK_ROWS < 4
#define BANTAM_UNROLL_3 "8"
#else
#define BANTAM_UNROLL_3 "4"
#endif

__asm__(".set bantam_unroll_1, " BANTAM_UNROLL_1 "\n.set bantam_unroll_2, " BANTAM_UNROLL_2
        "\n.set bantam_unroll_3, " BANTAM_UNROLL_3
        "\n"
        R"(
  .syntax unified
  .thumb

@ Two products of row \s.
.macro row s, a, b
  smlad r\s, r\a, r10, r\s
  smlad r\s, r\b, r11, r\s
.endm

.macro weights
  ldr.w r10, [r12], #64
  sxtb16 r11, r10, ror #8
  sxtb16 r10, r10
.endm

@ A quad alone, then those of a group.
.macro quad_1
  weights
  ldrd r1, r2, [lr], #8
  row 0, 1, 2
.endm
.macro group_1
  weights
  ldmia.w lr!, {r1-r8}
  row 0, 1, 2
  weights
  row 0, 3, 4
  weights
  row 0, 5, 6
  weights
  row 0, 7, 8
.endm
.macro quad_2
  weights
  ldmia.w lr!, {r2-r5}
  row 0, 2, 3
  row 1, 4, 5
.endm
.macro group_2
  weights
  ldmia.w lr!, {r2-r9}
  row 0, 2, 3
  row 1, 4, 5
  weights
  row 0, 6, 7
  row 1, 8, 9
.endm
.macro group_3
  weights
  ldmia.w lr!, {r3-r8}
  row 0, 3, 4
  row 1, 5, 6
  row 2, 7, 8
.endm
.macro quad_4
  weights
  ldmia.w lr!, {r4-r9}
  row 0, 4, 5
  row 1, 6, 7
  row 2, 8, 9
  ldrd r4, r5, [lr], #8
  row 3, 4, 5
.endm
.macro group_4
  weights
  ldmia.w lr!, {r4-r9}
  row 0, 4, 5
  row 1, 6, 7
  row 2, 8, 9
  ldmia.w lr!, {r4-r9}
  row 3, 4, 5
  weights
  row 0, 6, 7
  row 1, 8, 9
  ldmia.w lr!, {r4-r7}
  row 2, 4, 5
  row 3, 6, 7
.endm
.macro group_6
  weights
  ldmia.w lr!, {r6-r9}
  row 0, 6, 7
  row 1, 8, 9
  ldmia.w lr!, {r6-r9}
  row 2, 6, 7
  row 3, 8, 9
  ldmia.w lr!, {r6-r9}
  row 4, 6, 7
  row 5, 8, 9
.endm

@ Loads or stores the sums of an output; they lie r11 bytes apart from r10 on. Changes r12.
.macro sums operation, rows
  ldrd r10, r11, [sp]
  \operation r0, [r10]
  .if \rows > 1
  \operation r1, [r10, r11]
  .endif
  .if \rows > 2
  \operation r2, [r10, r11, lsl #1]
  .endif
  .if \rows > 3
  add.w r12, r10, r11
  \operation r3, [r12, r11, lsl #1]
  .endif
  .if \rows > 4
  \operation r4, [r10, r11, lsl #2]
  \operation r5, [r12, r11, lsl #2]
  .endif
.endm

@ Stack: 0 sums, 4 stride, 8 w_end, 12 w, 16 x, 20 x_end, 24 where the quads of an output begin, 28 where an output does, 32 where
@ its groups begin. A group is 2 to the power of \shift quads; \quad_bytes and \group_bytes of instructions are a quad and a group.
.macro panel rows, shift, quad_bytes, group_bytes, unroll
  .section .text.bantam_smlad_\rows, "ax", %progbits
  .global bantam_smlad_\rows
  .type bantam_smlad_\rows, %function
  .thumb_func
  .balign 4
bantam_smlad_\rows:
  push {r4-r11, lr}
  ldmia r0, {r1-r8}
  .if \shift
  lsr r0, r7, #\shift
  .else
  mov r0, r7
  .endif
  adr.w r9, 6f
  cbz r0, 7f
  subs r0, r0, #1
  and r0, r0, #((\unroll >> \shift) - 1)
  adds r0, r0, #1
  mov r11, #\group_bytes
  mls r9, r0, r11, r9
7:
  orr r9, r9, #1
  .if \shift
  adr.w r10, 2f
  mov r11, #\quad_bytes
  ands r7, r7, #((1 << \shift) - 1)
  mls r7, r7, r11, r10
  orr r7, r7, #1
  it eq
  moveq r7, r9
  .else
  mov r7, r9
  .endif
  cmp r8, #0
  adr.w r8, 3f + 1
  it ne
  adrne.w r8, 4f + 1
  push {r1-r9}
1:
  ldr.w pc, [sp, #28]
4:
  sums ldr.w, \rows
  b 5f
3:
  .irp sum, 0, 1, 2, 3, 4, 5
  .if \sum < \rows
  movs r\sum, #0
  .endif
  .endr
5:
  ldrd r12, lr, [sp, #12]
  ldr.w pc, [sp, #24]
  .if \shift
  .rept (1 << \shift) - 1
  quad_\rows
  .endr
2:
  ldr.w pc, [sp, #32]
  .endif
8:
  .rept \unroll >> \shift
  group_\rows
  .endr
6:
  ldr r7, [sp, #20]
  cmp lr, r7
  bne.w 8b
  sums str.w, \rows
  add.w r10, r10, #4
  str.w r10, [sp]
  ldrd r6, r7, [sp, #8]
  adds r7, r7, #4
  str r7, [sp, #12]
  cmp r6, r7
  bne.w 1b
  add sp, sp, #36
  pop {r4-r11, pc}
  .size bantam_smlad_\rows, . - bantam_smlad_\rows
.endm

  panel 1, 2, 24, 84, bantam_unroll_1
  panel 2, 1, 32, 60, bantam_unroll_2
  panel 3, 0, 0, 40, bantam_unroll_3
  panel 4, 1, 52, 100, 8
  panel 6, 0, 0, 72, 8

@ A block of four weights; 2 to the power of \shift bytes are a quad of all rows. Four rows take 17 instructions for 16
@ products.
.macro sparse_block rows, shift
  ldr.w r10, [r12], #16
  ldrh r6, [r4], #8
  sxtb16 r11, r10, ror #8
  sxtb16 r10, r10
  add.w r6, r5, r6, lsl #\shift
  .irp row, 0, 1, 2, 3
  .if \row < \rows
  ldrd r7, r8, [r6, #(8 * \row)]
  smlad r\row, r7, r10, r\row
  smlad r\row, r8, r11, r\row
  .endif
  .endr
.endm

@ r0-r3 sums, r4 index, r5 x, r12 w, lr its end. Two blocks a round; an odd one comes first.
.macro sparse rows, shift
  .section .text.bantam_smlad_sparse_\rows, "ax", %progbits
  .global bantam_smlad_sparse_\rows
  .type bantam_smlad_sparse_\rows, %function
  .thumb_func
  .balign 4
bantam_smlad_sparse_\rows:
  push {r4-r8, r10, r11, lr}
  ldmia r0, {r1-r6}
  push {r1, r2}
  mov r12, r3
  mov lr, r6
  movs r0, #0
  movs r1, #0
  movs r2, #0
  movs r3, #0
  cmp r12, lr
  beq 3f
  eor.w r6, r12, lr
  lsls r6, r6, #27
  bmi 2f
1:
  sparse_block \rows, \shift
2:
  sparse_block \rows, \shift
  cmp r12, lr
  bne 1b
3:
  pop {r10, r11}
  str.w r0, [r10]
  .if \rows > 1
  str.w r1, [r10, r11]
  .endif
  .if \rows > 2
  add.w r12, r10, r11
  str.w r2, [r10, r11, lsl #1]
  str.w r3, [r12, r11, lsl #1]
  .endif
  pop {r4-r8, r10, r11, pc}
  .size bantam_smlad_sparse_\rows, . - bantam_smlad_sparse_\rows
.endm

  sparse 1, 3
  sparse 2, 4
  sparse 4, 5
  .text
)");
