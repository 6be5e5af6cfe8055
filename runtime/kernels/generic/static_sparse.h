// static_linear of sparse weights (layout sparse_1x4) on 16 lanes: the passes of linear_sparse.h, whose sums become numbers of fewer
// bits, 16 rows by a panel at a time.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_SPARSE_H_
#define BANTAM_KERNELS_GENERIC_STATIC_SPARSE_H_

#include "kernels/generic/linear_sparse.h"
#include "kernels/generic/static_store.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// All rows, at most 16 * kVectors, of outputs [first, first + outputs), at most a span.
template <uint32_t kVectors>
BANTAM_NOINLINE bool static_sparse_span(const StaticLinear& a, uint32_t first, uint32_t outputs) {
  SpanSums<kVectors> sums;
  sums.template add<StaySums<kVectors>>(a, first, outputs);
  for (uint32_t row = 0; row < a.rows; row += 16) {
    const uint32_t rows = a.rows - row < 16 ? a.rows - row : 16;
    for (uint32_t o = 0; o < outputs; o += 16) {
      const uint32_t column = first + o;
      const I32 bias = a.y_f32 != nullptr ? static_bias(a.requantise, column) : static_start(a.requantise, column);
      const I32 start = kOffsetInDots ? times_minus_128(load(a.w_sum + column)) + bias : bias;
      alignas(64) int32_t started[16][16];
      for_rows_of(
          sums.found[o] + row, 16 * kVectors,
          rows, [&](uint32_t r, I32 found) __attribute__((always_inline)) { store(started[r], found + start); });
      static_store_block<1, true>(a, started, row, rows, column / 16);
    }
  }
  return true;
}

/// How static_linear makes a span.
struct SpansOfNumbers {
  template <uint32_t kVectors>
  static BANTAM_INLINE auto of(const StaticLinear&) {
    return static_sparse_span<kVectors>;
  }
};

inline bool static_sparse(const StaticLinear& a) { return sparse_passes<SpansOfNumbers>(a); }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_SPARSE_H_
