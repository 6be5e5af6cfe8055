// Sparse int8 layers: four weights of one output by four inputs of 16 rows, with sdot where the processor has it, else with
// smull and pairwise additions.
#ifndef BANTAM_KERNELS_NEON_ROW_SUMS_H_
#define BANTAM_KERNELS_NEON_ROW_SUMS_H_

#include "kernels/neon/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// What sparse weights are: four of one output, for all rows.
using WeightQuad = int8x16_t;
/// Those of four outputs.
BANTAM_INLINE void load_weight_quads(const int8_t* w, WeightQuad (&quads)[4]) {
  const int32x4_t four = vreinterpretq_s32_s8(vld1q_s8(w));
  quads[0] = vreinterpretq_s8_s32(vdupq_laneq_s32(four, 0));
  quads[1] = vreinterpretq_s8_s32(vdupq_laneq_s32(four, 1));
  quads[2] = vreinterpretq_s8_s32(vdupq_laneq_s32(four, 2));
  quads[3] = vreinterpretq_s8_s32(vdupq_laneq_s32(four, 3));
}

/// The sums of one output for 16 rows.
struct RowSums {
  int32x4_t v[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
  /// rows[16][4]. Two products fit s16: 2 * 127 * 127, and a garbage x of -128 meets weights of 0 only.
  BANTAM_INLINE void add(WeightQuad w, const int8_t* rows) {
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
      const int8x16_t x = vld1q_s8(rows + i * 16);
#if defined(__ARM_FEATURE_DOTPROD)
      v[i] = vdotq_s32(v[i], x, w);
#else
      const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(w));
      const int16x8_t high = vmull_high_s8(x, w);
      v[i] = vaddq_s32(v[i], vpaddlq_s16(vpaddq_s16(low, high)));
#endif
    }
  }
  BANTAM_INLINE I32x16 get() const {
    I32x16 sums;
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 4; ++i) sums.v[i] = v[i];
    return sums;
  }
};

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_NEON_ROW_SUMS_H_
