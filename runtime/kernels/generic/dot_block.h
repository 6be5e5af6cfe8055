// Initial sums of the register blocks of int8 matrix products on 16 lanes. Each instruction set's dot.h defines the
// blocks themselves (RegisterBlock), mostly with quad_block.h.
#ifndef BANTAM_KERNELS_GENERIC_DOT_BLOCK_H_
#define BANTAM_KERNELS_GENERIC_DOT_BLOCK_H_

#include "kernels/generic/blocks.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Initializes the sums of a RegisterBlock for panels of a layer; `w_sum`: sums of the layer's weights.
template <uint32_t kPanels, class Block>
BANTAM_INLINE void start_sums(Block& block, const int32_t* w_sum) {
  if constexpr (kOffsetInDots) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) block.start(p, w_sum + p * 16);
  } else {
    block.clear();
  }
}

/// Computes the initial values of the accumulators for products of queries and keys: -128 times the query's sum if dot
/// products take keys as k + 128, else 0.
template <uint32_t kRows>
BANTAM_INLINE void measure_queries(int32_t (&starts)[kRows], const int8_t* q, size_t q_stride, uint32_t count) {
  if constexpr (kOffsetInDots) {
    I32 totals[kRows];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      I32 total = splat(int32_t{0});
      for_vectors(
          count, [&](uint32_t i, auto lanes)
                     __attribute__((always_inline)) { total = total + load_i8_lanes(q + r * q_stride + i, lanes); });
      totals[r] = total;
    }
    int32_t sums[16];
    store(sums, across_lanes(
                    totals, [](const auto& x) __attribute__((always_inline)) { return sum(x); },
                    [](const auto& x) __attribute__((always_inline)) { return sum_eight(x); }));
    for (uint32_t r = 0; r < kRows; ++r) starts[r] = -128 * sums[r];
  } else {
    for (int32_t& start : starts) start = 0;
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_DOT_BLOCK_H_
