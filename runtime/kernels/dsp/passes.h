// Passes over the floats of a row in assembly, for cores with an FPU: loads and stores of four registers, maxima and
// bytes in integer registers, GELU's coefficients with one load. Results equal those of generic/passes.h bit by bit.
// Rows that are not a multiple of four elements begin with single elements.
#ifndef BANTAM_KERNELS_DSP_PASSES_H_
#define BANTAM_KERNELS_DSP_PASSES_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/gelu_table.h"
#include "kernels/generic/config.h"

#if defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4)
#define BANTAM_KERNEL_OWN_PASSES

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

// clang-format off
/// Repeats instructions for four elements at a time, in s4-s7, s8-s11 and s12-s15.
#define BANTAM_FOUR(X) X("s4", "s8", "s12") X("s5", "s9", "s13") X("s6", "s10", "s14") X("s7", "s11", "s15")
/// Loop over elements from pointer %0 on, until it reaches the operand `end`.
#define BANTAM_ROUNDS(body, end) "1:\n" body "cmp %0, %[" end "]\nbne 1b"
#define BANTAM_CHANGES_EIGHT "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "memory", "cc"
#define BANTAM_CHANGES_TWELVE "s12", "s13", "s14", "s15", BANTAM_CHANGES_EIGHT

#define BANTAM_WORST(word) "cmp %1, " word ", lsl #1\nit lo\nlsllo %1, " word ", #1\n"
BANTAM_NOINLINE inline int32_t magnitude_of(const float* x, uint32_t n) {
  uint32_t worst = 0;  // without the sign, which is shifted out
  for (; n % 4 != 0; --n) {
    __asm__ volatile("ldr r2, [%0], #4\n" BANTAM_WORST("r2") : "+&r"(x), "+&r"(worst) : : "r2", "memory", "cc");
  }
  if (n != 0) {
    __asm__ volatile(BANTAM_ROUNDS("ldmia %0!, {r2, r3, r4, r5}\n" BANTAM_WORST("r2") BANTAM_WORST("r3") BANTAM_WORST("r4")
                                       BANTAM_WORST("r5"), "end")
                     : "+&r"(x), "+&r"(worst)
                     : [end] "r"(x + n)
                     : "r2", "r3", "r4", "r5", "memory", "cc");
  }
  return static_cast<int32_t>(worst >> 1);
}
#undef BANTAM_WORST

#define BANTAM_QUANTIZE(v, ...) "vmul.f32 " v ", " v ", %[inverse]\nvadd.f32 " v ", " v ", %[magic]\n"
BANTAM_NOINLINE inline void quantize_row(const float* x, uint32_t n, float inverse, int8_t* q) {
  const float magic = 12582912.0f;
  for (; n % 4 != 0; --n) {
    __asm__ volatile("vldmia %0!, {s4}\n" BANTAM_QUANTIZE("s4") "vmov r2, s4\nstrb r2, [%1], #1"
                     : "+&r"(x), "+&r"(q)
                     : [inverse] "t"(inverse), [magic] "t"(magic)
                     : "s4", "r2", "memory");
  }
  if (n == 0) return;
  __asm__ volatile(BANTAM_ROUNDS("vldmia %0!, {s4-s7}\n" BANTAM_FOUR(BANTAM_QUANTIZE)
                                 "vmov r2, r3, s4, s5\nvmov r4, r5, s6, s7\nbfi r2, r3, #8, #8\nbfi r2, r4, #16, #8\n"
                                 "bfi r2, r5, #24, #8\nstr r2, [%1], #4\n", "end")
                   : "+&r"(x), "+&r"(q)
                   : [inverse] "t"(inverse), [magic] "t"(magic), [end] "r"(x + n)
                   : "s4", "s5", "s6", "s7", "r2", "r3", "r4", "r5", "memory", "cc");
}
#undef BANTAM_QUANTIZE

#define BANTAM_ADD(a, b, ...) "vadd.f32 " b ", " a ", " b "\n"
#define BANTAM_MULTIPLY(a, b, ...) "vmul.f32 " b ", " a ", " b "\n"
#define BANTAM_PAIRS(X)                                                                                               \
  __asm__ volatile(BANTAM_ROUNDS("vldmia %0!, {s4-s7}\nvldmia %1!, {s8-s11}\n" BANTAM_FOUR(X) "vstmia %2!, {s8-s11}\n", "end") \
                   : "+&r"(a), "+&r"(b), "+&r"(to)                                                                    \
                   : [end] "r"(a + n)                                                                                 \
                   : BANTAM_CHANGES_EIGHT)
BANTAM_INLINE void add_rows(const float* a, const float* b, uint32_t n, float* to) {
  for (; n % 4 != 0; --n) *to++ = *a++ + *b++;
  if (n != 0) BANTAM_PAIRS(BANTAM_ADD);
}
BANTAM_INLINE void multiply_rows(const float* a, const float* b, uint32_t n, float* to) {
  for (; n % 4 != 0; --n) *to++ = *a++ * *b++;
  if (n != 0) BANTAM_PAIRS(BANTAM_MULTIPLY);
}
#undef BANTAM_PAIRS
#undef BANTAM_MULTIPLY

#define BANTAM_PARTS(X)                                                                                               \
  __asm__ volatile(BANTAM_ROUNDS("vldmia %0!, {s4-s7}\nvldmia %1, {s8-s11}\n" BANTAM_FOUR(X) "vstmia %1!, {s8-s11}\n", "end") \
                   : "+&r"(x), "+&r"(part)                                                                            \
                   : [end] "r"(x + n), [mean] "t"(mean)                                                               \
                   : BANTAM_CHANGES_EIGHT)
#define BANTAM_SQUARE(x, part, ...) "vsub.f32 " x ", " x ", %[mean]\nvfma.f32 " part ", " x ", " x "\n"
BANTAM_INLINE void add_parts(const float* x, uint32_t n, float* part) {
  for (; n % 4 != 0; --n, ++part) *part = *part + *x++;
  constexpr float mean = 0.0f;  // not used
  if (n != 0) BANTAM_PARTS(BANTAM_ADD);
}
BANTAM_INLINE void add_squares(const float* x, float mean, uint32_t n, float* part) {
  for (; n % 4 != 0; --n, ++part) {
    const float d = *x++ - mean;
    *part = __builtin_fmaf(d, d, *part);
  }
  if (n != 0) BANTAM_PARTS(BANTAM_SQUARE);
}
#undef BANTAM_SQUARE
#undef BANTAM_PARTS
#undef BANTAM_ADD

#define BANTAM_NORM(x, gamma, beta)                                                                                   \
  "vsub.f32 " x ", " x ", %[mean]\nvmul.f32 " x ", " x ", %[reciprocal]\nvfma.f32 " beta ", " x ", " gamma "\n"
BANTAM_INLINE void normalize_row(const float* x, uint32_t n, float mean, float reciprocal, const float* gamma,
                                 const float* beta, float* to) {
  for (; n % 4 != 0; --n) *to++ = __builtin_fmaf((*x++ - mean) * reciprocal, *gamma++, *beta++);
  if (n == 0) return;
  __asm__ volatile(BANTAM_ROUNDS("vldmia %0!, {s4-s7}\nvldmia %1!, {s8-s11}\nvldmia %2!, {s12-s15}\n"
                                 BANTAM_FOUR(BANTAM_NORM) "vstmia %3!, {s12-s15}\n", "end")
                   : "+&r"(x), "+&r"(gamma), "+&r"(beta), "+&r"(to)
                   : [end] "r"(x + n), [mean] "t"(mean), [reciprocal] "t"(reciprocal)
                   : BANTAM_CHANGES_TWELVE);
}
#undef BANTAM_NORM

/// y = fma(sum, x_scale * w_scale, bias) for the sums stored in y, n a multiple of 4; bias may be null. Returns poison,
/// a NaN if some y is not finite.
#define BANTAM_VALUE(sum, scale, value)                                                                               \
  "vmul.f32 " scale ", " scale ", %[x_scale]\nvcvt.f32.s32 " sum ", " sum "\nvfma.f32 " value ", " sum ", " scale "\n" \
  "vfma.f32 %3, " value ", %[zero]\n"
BANTAM_NOINLINE inline float dequantize_sums(float* y, uint32_t n, float x_scale, const float* w_scale, const float* bias,
                                             float poison) {
  const float none[4] = {};
  const uint32_t step = bias == nullptr ? 0 : 16;
  if (bias == nullptr) bias = none;
  __asm__ volatile(BANTAM_ROUNDS("vldmia %0, {s4-s7}\nvldmia %1!, {s8-s11}\nvldmia %2, {s12-s15}\nadd %2, %[step]\n"
                                 BANTAM_FOUR(BANTAM_VALUE) "vstmia %0!, {s12-s15}\n", "end")
                   : "+&r"(y), "+&r"(w_scale), "+&r"(bias), "+&t"(poison)
                   : [end] "r"(y + n), [x_scale] "t"(x_scale), [zero] "t"(0.0f), [step] "r"(step)
                   : BANTAM_CHANGES_TWELVE);
  return poison;
}
#undef BANTAM_VALUE
#undef BANTAM_ROUNDS
#undef BANTAM_FOUR
#undef BANTAM_CHANGES_EIGHT
#undef BANTAM_CHANGES_TWELVE

/// x = gelu(x) of generic/math.h, n at least 1. The coefficients of an interval are one load; from the last interval on
/// they are 0.
BANTAM_INLINE void gelu_row(float* x, uint32_t n) {
  constexpr uint32_t kRounded = 0x4b400000;  // bits of 1.5 * 2^23; adding it leaves the integer in the low bits
  constexpr uint32_t kBytes = sizeof kGeluColumns[0];
  __asm__ volatile(R"(
1:
  vldr s8, [%0]
  vmov.f32 s9, %[magic]
  vabs.f32 s10, s8
  vfma.f32 s9, s10, %[per_unit]
  vmov r2, s9
  cmp r2, %[last]
  bhs 3f
  mla r2, r2, %[bytes], %[columns]
  vldmia r2, {s11-s15}
  vfma.f32 s14, s15, s10
  vfma.f32 s13, s14, s10
  vfma.f32 s12, s13, s10
  vfma.f32 s11, s12, s10
2:
  vcmp.f32 s8, #0.0
  vmrs APSR_nzcv, fpscr
  it mi
  vmovmi.f32 s8, %[zero]
  vsub.f32 s8, s8, s11
  vstmia %0!, {s8}
  cmp %0, %[end]
  bne 1b
  b 4f
3:
  vmov.f32 s11, %[zero]
  b 2b
4:)"
                   : "+&r"(x)
                   : [per_unit] "t"(kGeluPerUnit), [magic] "t"(12582912.0f), [last] "r"(kRounded + 15), [bytes] "r"(kBytes),
                     [columns] "r"(reinterpret_cast<uintptr_t>(kGeluColumns) - kRounded * kBytes), [zero] "t"(0.0f),
                     [end] "r"(x + n)
                   : "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "r2", "memory", "cc");
}
// clang-format on

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif
#endif  // BANTAM_KERNELS_DSP_PASSES_H_
