// The inner loops of dsp/smlad.h. All of r0-r12 and lr are in use in the block of six rows: six sums, two rows of
// activations, one output's weights, two pointers. A quad takes 18 instructions there for 24 products: one load and two
// SXTB16 of weights, which come straight from the file's tiles, three loads of two rows each, twelve SMLAD. What does not fit
// waits on the stack, read once an output.
//
// The loop over quads is unrolled eight times, four times for rows that are only left over; its first round begins where as many
// quads remain as are left over. Every instruction of a quad is 32 bits wide, so that place is computed.
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

__asm__(".set bantam_unroll_1, " BANTAM_UNROLL_1 "\n.set bantam_unroll_2, " BANTAM_UNROLL_2
        "\n"
        R"(
  .syntax unified
  .thumb

@ Sums of two rows whose activations are in \a and \b, \c and \d.
.macro two_rows s0, s1, a, b, c, d, even, odd
  smlad \s0, \a, \even, \s0
  smlad \s0, \b, \odd, \s0
  smlad \s1, \c, \even, \s1
  smlad \s1, \d, \odd, \s1
.endm

.macro weights even, odd
  ldr.w \even, [r12], #64
  sxtb16 \odd, \even, ror #8
  sxtb16 \even, \even
.endm

.macro quad_1
  weights r10, r11
  ldrd r6, r7, [lr], #8
  smlad r0, r6, r10, r0
  smlad r0, r7, r11, r0
.endm
.macro quad_2
  weights r10, r11
  ldmia.w lr!, {r6-r9}
  two_rows r0, r1, r6, r7, r8, r9, r10, r11
.endm
.macro quad_4
  quad_2
  ldmia.w lr!, {r6-r9}
  two_rows r2, r3, r6, r7, r8, r9, r10, r11
.endm
.macro quad_6
  quad_4
  ldmia.w lr!, {r6-r9}
  two_rows r4, r5, r6, r7, r8, r9, r10, r11
.endm

@ Loads or stores the sums of an output; they lie r11 bytes apart from r10 on. Changes r12.
.macro sums operation, rows
  ldrd r10, r11, [sp]
  \operation r0, [r10]
  .if \rows > 1
  \operation r1, [r10, r11]
  .endif
  .if \rows > 2
  add.w r12, r10, r11
  \operation r2, [r10, r11, lsl #1]
  \operation r3, [r12, r11, lsl #1]
  .endif
  .if \rows > 4
  \operation r4, [r10, r11, lsl #2]
  \operation r5, [r12, r11, lsl #2]
  .endif
.endm

@ Stack: 0 sums, 4 stride, 8 w_end, 12 w, 16 x, 20 x_end, 24 where the first round of quads begins, 28 where an output does.
.macro panel rows, quad_bytes, unroll
  .section .text.bantam_smlad_\rows, "ax", %progbits
  .global bantam_smlad_\rows
  .type bantam_smlad_\rows, %function
  .thumb_func
  .balign 4
bantam_smlad_\rows:
  push {r4-r11, lr}
  ldmia r0, {r1-r8}
  rsb r7, r7, #0
  and r7, r7, #(\unroll - 1)
  mov r9, #\quad_bytes
  adr r10, 2f
  mla r7, r7, r9, r10
  orr r7, r7, #1
  cmp r8, #0
  adr r8, 3f
  it ne
  adrne r8, 4f
  orr r8, r8, #1
  push {r1-r8}
1:
  ldr.w pc, [sp, #28]
  .balign 4
4:
  sums ldr.w, \rows
  b 5f
  .balign 4
3:
  .irp sum, 0, 1, 2, 3, 4, 5
  .if \sum < \rows
  movs r\sum, #0
  .endif
  .endr
5:
  ldrd r12, lr, [sp, #12]
  ldr.w pc, [sp, #24]
  .balign 4
2:
  .rept \unroll
  quad_\rows
  .endr
  ldr r6, [sp, #20]
  cmp lr, r6
  bne 2b
  sums str.w, \rows
  add.w r10, r10, #4
  str.w r10, [sp]
  ldrd r6, r7, [sp, #8]
  adds r7, r7, #4
  str r7, [sp, #12]
  cmp r6, r7
  bne 1b
  add sp, sp, #32
  pop {r4-r11, pc}
  .size bantam_smlad_\rows, . - bantam_smlad_\rows
.endm

  panel 1, 24, bantam_unroll_1
  panel 2, 32, bantam_unroll_2
  panel 4, 52, 8
  panel 6, 72, 8

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
