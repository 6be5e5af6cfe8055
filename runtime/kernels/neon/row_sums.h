// Sparse int8 layers: four weights of one output by four inputs of 16 rows, with sdot if the processor has it, else
// with smull and pairwise additions.
#ifndef BANTAM_KERNELS_NEON_ROW_SUMS_H_
#define BANTAM_KERNELS_NEON_ROW_SUMS_H_

#include "kernels/neon/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Sparse weights: four weights of each of four outputs, for all rows.
struct WeightQuads {
  BANTAM_INLINE explicit WeightQuads(const int8_t* w) : four(vld1q_s8(w)) {}
  int8x16_t four;
};

/// The sums of four outputs for 16 rows take 16 of 32 registers.
constexpr uint32_t kSparseVectors = 1;
/// The sums of one output for 16 rows, or for the first eight or four of them.
template <uint32_t kRows>
struct RowSums {
  int32x4_t v[4];

  RowSums() = default;
  BANTAM_INLINE explicit RowSums(I32x16 start) : v{start.v[0], start.v[1], start.v[2], start.v[3]} {}
  /// rows[16][4]. Two products fit in s16: 2 * 127 * 127; an x of -128 occurs only in padding, where weights are 0.
  template <int kOutput>
  BANTAM_INLINE void add(const WeightQuads& quads, const int8_t* rows) {
#if defined(__ARM_FEATURE_DOTPROD)
    if constexpr (kRows == 16) {
      const int8x16x4_t x = vld1q_s8_x4(rows);
      v[0] = vdotq_laneq_s32(v[0], x.val[0], quads.four, kOutput);
      v[1] = vdotq_laneq_s32(v[1], x.val[1], quads.four, kOutput);
      v[2] = vdotq_laneq_s32(v[2], x.val[2], quads.four, kOutput);
      v[3] = vdotq_laneq_s32(v[3], x.val[3], quads.four, kOutput);
    } else {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kRows / 4; ++i)
        v[i] = vdotq_laneq_s32(v[i], vld1q_s8(rows + i * 16), quads.four, kOutput);
    }
#else
    const int8x16_t w = vreinterpretq_s8_s32(vdupq_laneq_s32(vreinterpretq_s32_s8(quads.four), kOutput));
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kRows / 4; ++i) {
      const int8x16_t x = vld1q_s8(rows + i * 16);
      const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(w));
      const int16x8_t high = vmull_high_s8(x, w);
      v[i] = vaddq_s32(v[i], vpaddlq_s16(vpaddq_s16(low, high)));
    }
#endif
  }
  BANTAM_INLINE I32x16 get() const {
    I32x16 sums;
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 4; ++i) sums.v[i] = v[i];
    return sums;
  }
};

/// The fewest rows that have sums of their own: FewSums in generic/linear_sparse.h.
constexpr uint32_t kFewestSums = 4;

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_NEON_ROW_SUMS_H_
