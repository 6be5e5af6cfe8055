// feature_rows and outer_sums: linear attention by sums over keys.
#ifndef BANTAM_KERNELS_GENERIC_FEATURES_H_
#define BANTAM_KERNELS_GENERIC_FEATURES_H_

#include "kernels/generic/blocks.h"
#include "kernels/generic/math.h"
#include "kernels/generic/softmax.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Replaces each vector of row r by v(h), followed by zeros.
template <class V>
BANTAM_INLINE bool replace_row(const FeatureRows& a, uint32_t r, const V& v) {
  float* h = a.h + r * a.h_stride;
  const bool summed = a.weights != nullptr;
  Finite finite;
  Sums sums{};
  for_vectors(
      a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        const F32 y = lanes.keep_row(v(load(h + i)));
        finite.note(y);
        store(h + i, y);
        if (!summed) return;
        auto& part = partial(sums, i);
        part = fma(y, lanes.keep_row(load(a.weights + i)), part);
      });
  if (summed) a.sums[r] = total(sums);
  return finite.all() && (!summed || is_finite(a.sums[r]));
}

/// The sum of the squares of a row at any address.
BANTAM_INLINE float sum_of_squares(const float* x, uint32_t width) {
  Sums sums{};
  for_vectors(
      width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        const F32 v = lanes.keep_row(load_lanes(x + i, lanes));
        auto& part = partial(sums, i);
        part = fma(v, v, part);
      });
  return total(sums);
}

/// Computes the exponential of one number with vectors.
BANTAM_INLINE float exp_of(float x) {
  float lanes[16] = {};
  store(lanes, exp_below_88(splat(x)));
  return lanes[0];
}

/// For keys: raises the largest product so far to the rows' maximum. A NaN is never the maximum; its own row detects
/// it.
BANTAM_INLINE void raise_most(const FeatureRows& a) {
  float most = *a.most;
  for (uint32_t r = 0; r < a.rows; ++r) {
    const float of_row = row_largest(a.h + r * a.h_stride, a.width);
    most = of_row > most ? of_row : most;
  }
  *a.kept = exp_of(*a.most - most);
  *a.most = most;
}

inline bool feature_rows(const FeatureRows& a) {
  const F32 epsilon = splat(a.epsilon), zero = splat(0.0f);
  const bool keys = a.most != nullptr;
  bool finite = true;
  if (keys && a.x != nullptr) raise_most(a);
  if (keys && a.x == nullptr) *a.kept = 1.0f;
  for (uint32_t r = 0; r < a.rows; ++r) {
    if (a.x == nullptr) {
      finite &= replace_row(
          a, r, [&](F32 v) __attribute__((always_inline)) { return max(zero, v) + epsilon; });
      continue;
    }
    const float most = keys ? *a.most : row_largest(a.h + r * a.h_stride, a.width);
    const F32 half = splat(0.5f), squares = splat(sum_of_squares(a.x + r * a.x_stride, a.x_width));
    const F32 shift = fma(half, squares, splat(most));
    finite &= replace_row(
        a, r, [&](F32 v) __attribute__((always_inline)) { return exp_below_88(v - shift) + epsilon; });
  }
  return finite;
}

/// Multiplies columns [row, row + kRows) of a by panels [panel, panel + kPanels) of b.
template <uint32_t kRows, uint32_t kPanels>
BANTAM_NOINLINE bool outer_block(const OuterSums& a, uint32_t row, uint32_t panel) {
  const size_t stride = size_t{a.k} * 16;
  float* y = a.y + panel * stride + row * 16;
  Panel acc[kRows][kPanels];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) acc[r][p] = Panel(0.0f);
  }
  fma_steps(acc, a.a + row, 1, a.b + panel * 16, 16, a.rows, Steps{a.a_stride, a.b_stride});
  I32 worst = splat(int32_t{0});
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      BANTAM_UNROLL
      for (uint32_t l = 0; l < kVectors; ++l) {
        float* to = y + p * stride + r * 16 + l * kLanes;
        const F32 sum = fma(load(to), splat(a.keep), acc[r][p].v[l]);
        worst = max(worst, magnitude_bits(sum));
        store(to, sum);
      }
    }
  }
  return largest(worst) < kInfinityBits;
}

template <uint32_t kPanels>
BANTAM_INLINE bool outer_panels(const OuterSums& a, uint32_t panel) {
  bool finite = true;
  uint32_t row = 0;
  for (; row + kMaxRowsF32 <= a.k; row += kMaxRowsF32) finite &= outer_block<kMaxRowsF32, kPanels>(a, row, panel);
  for (; row < a.k; ++row) finite &= outer_block<1, kPanels>(a, row, panel);
  return finite;
}

inline bool outer_sums(const OuterSums& a) {
  constexpr uint32_t kPanels = block_panels_f32(kMaxRowsF32);
  const uint32_t panels = a.n / 16;
  bool finite = true;
  uint32_t panel = 0;
  for (; panel + kPanels <= panels; panel += kPanels) finite &= outer_panels<kPanels>(a, panel);
  if constexpr (kPanels > 1) {
    for (; panel < panels; ++panel) finite &= outer_panels<1>(a, panel);
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_FEATURES_H_
