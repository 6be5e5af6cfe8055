// Converts a block's sums to values, with the activation, or to a static layer's numbers. Tiles compute sums of (x +
// 128) * w, so -128 times the sum of an output's weights must be added to each of its sums.
#ifndef BANTAM_KERNELS_AMX_SUMS_H_
#define BANTAM_KERNELS_AMX_SUMS_H_

#include "kernels/generic/linear.h"
#include "kernels/generic/static/static_store.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Computes the values of sums [rows][kPanels][16] before the activation. Returns false if some value is not finite.
template <uint32_t kPanels>
BANTAM_INLINE bool dequantize_block(const LinearQ8& a, const int32_t (*sums)[16], uint32_t row, uint32_t rows,
                                    uint32_t panel, float* y, size_t y_stride) {
  I32 worst = splat(int32_t{0});
  BANTAM_UNROLL
  for (uint32_t p = 0; p < kPanels; ++p) {
    const uint32_t column = (panel + p) * 16;
    const F32 w_scale = load(a.w_scale + column);
    const F32 bias = a.bias != nullptr ? load(a.bias + column) : splat(0.0f);
    const I32 start = times_minus_128(load(a.w_sum + column));
    const float* x_scale = a.x_scale + row;
    for (uint32_t r = 0; r < rows; ++r) {
      const F32 v = dequantize(load(sums[size_t{r} * kPanels + p]) + start, splat(x_scale[r]), w_scale, bias);
      worst = max(worst, magnitude_bits(v));
      store(y + r * y_stride + p * 16, v);
    }
  }
  return largest(worst) < kInfinityBits;
}

/// Computes rows [row, row + rows), at most kMostRows, by panels [panel, panel + kPanels) of y from sums
/// [rows][kPanels][16]. Returns false if some y is not finite.
template <uint32_t kMostRows, uint32_t kPanels>
BANTAM_INLINE bool store_sums(const LinearQ8& a, const int32_t (*sums)[16], uint32_t row, uint32_t rows,
                              uint32_t panel) {
  float* y = a.y + row * a.y_stride + panel * 16;
  if (a.activation == Activation::kNone && a.row_maximum == nullptr) {
    return dequantize_block<kPanels>(a, sums, row, rows, panel, y, a.y_stride);
  }
  // Rows of y are often so far apart that they compete for a few sets of the first-level cache.
  constexpr uint32_t kColumns = kPanels * 16;
  alignas(64) float values[kMostRows][kColumns];
  dequantize_block<kPanels>(a, sums, row, rows, panel, values[0], kColumns);
  const bool finite = activate_block(a.activation, values[0], kColumns, rows, kColumns,
                                     a.row_maximum == nullptr ? nullptr : a.row_maximum + row * 16);
  for (uint32_t r = 0; r < rows; ++r, y += a.y_stride) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) store(y + p * 16, load(&values[r][p * 16]));
  }
  return finite;
}

/// Stores the sums of a static layer, whose numbers are all finite.
template <uint32_t kMostRows, uint32_t kPanels>
BANTAM_INLINE bool store_sums(const StaticLinear& a, const int32_t (*sums)[16], uint32_t row, uint32_t rows,
                              uint32_t panel) {
  static_store_block<kPanels, false>(a, sums, row, rows, panel);
  return true;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_AMX_SUMS_H_
