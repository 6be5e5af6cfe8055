// Passes over the floats of a row on one lane. Instruction sets that benefit from assembly have their own.
#ifndef BANTAM_KERNELS_GENERIC_PASSES_H_
#define BANTAM_KERNELS_GENERIC_PASSES_H_

#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

#if defined(BANTAM_KERNEL_ONE_LANE) && !defined(BANTAM_KERNEL_OWN_PASSES)

/// The largest |x|, as bits.
BANTAM_NOINLINE inline int32_t magnitude_of(const float* x, uint32_t n) {
  int32_t worst = 0;
  for (uint32_t i = 0; i < n; ++i) worst = max(worst, magnitude_bits(x[i]));
  return worst;
}

/// The low bytes of x * inverse, rounded.
BANTAM_NOINLINE inline void quantize_row(const float* x, uint32_t n, float inverse, int8_t* q) {
  for (uint32_t i = 0; i < n; ++i) store_bytes(q + i, quantize(x[i], inverse));
}

/// to = a + b, to = a * b; to may be a or b.
BANTAM_INLINE void add_rows(const float* a, const float* b, uint32_t n, float* to) {
  for (uint32_t i = 0; i < n; ++i) to[i] = a[i] + b[i];
}
BANTAM_INLINE void multiply_rows(const float* a, const float* b, uint32_t n, float* to) {
  for (uint32_t i = 0; i < n; ++i) to[i] = a[i] * b[i];
}

/// Adds x, or the squares of x - mean, to partial sums; n <= 16.
BANTAM_INLINE void add_parts(const float* x, uint32_t n, float* part) {
  for (uint32_t i = 0; i < n; ++i) part[i] = part[i] + x[i];
}
BANTAM_INLINE void add_squares(const float* x, float mean, uint32_t n, float* part) {
  for (uint32_t i = 0; i < n; ++i) {
    const float d = x[i] - mean;
    part[i] = fma(d, d, part[i]);
  }
}

/// to = (x - mean) * reciprocal * gamma + beta; to may be x.
BANTAM_INLINE void normalize_row(const float* x, uint32_t n, float mean, float reciprocal, const float* gamma,
                                 const float* beta, float* to) {
  for (uint32_t i = 0; i < n; ++i) to[i] = fma((x[i] - mean) * reciprocal, gamma[i], beta[i]);
}

#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_PASSES_H_
