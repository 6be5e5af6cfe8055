// softmax_rows and pool_rows.
#ifndef BANTAM_KERNELS_GENERIC_SOFTMAX_H_
#define BANTAM_KERNELS_GENERIC_SOFTMAX_H_

#include "kernels/generic/math.h"
#include "kernels/generic/rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr float kMinusInfinity = -__builtin_inff();

/// The largest element of a row.
BANTAM_INLINE float row_largest(const float* x, uint32_t width) {
  F32 best = splat(kMinusInfinity);
  for_vectors(
      width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        F32 v = load_lanes(x + i, lanes);
        if constexpr (sizeof(lanes) > sizeof(AllLanes)) v = select(lanes.mask, v, splat(kMinusInfinity));
        best = max(v, best);
      });
  return largest(best);
}

inline bool softmax_row(float* x, uint32_t width) {
  const F32 best = splat(row_largest(x, width));
  Sums sums{};
  for_vectors(
      width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        const F32 p = lanes.keep_row(exp_below_88(load(x + i) - best));
        partial(sums, i) = partial(sums, i) + p;
        store(x + i, p);
      });
  const float sum_of_row = total(sums);
  const F32 l = splat(sum_of_row);
  for_vectors(
      width, [&](uint32_t i, auto) __attribute__((always_inline)) { store(x + i, load(x + i) / l); });
  // Every p is in [0, 1] unless one was NaN; then the sum is NaN, too.
  return is_finite(sum_of_row);
}

inline bool softmax_rows(const SoftmaxRows& a) {
  bool finite = true;
  for (uint32_t r = 0; r < a.rows; ++r) finite &= softmax_row(a.x + r * a.x_stride, a.width);
  return finite;
}

/// A vector of columns of one row.
template <class Lanes>
BANTAM_INLINE F32 pool_vector(const PoolRows& a, uint32_t row, uint32_t column, Lanes lanes) {
  const size_t at = row * a.x_stride + column;
  if (a.x != nullptr) return load(a.x + at);
  return to_f32(flip_offset(load_i8_lanes(a.x_q + at, lanes))) * splat(a.x_scale[row]);
}

// The kinds of pooling that are linked, in Pool's order.
constexpr bool links_pool(Pool kind) { return linked::pool(static_cast<uint32_t>(kind)); }
constexpr bool kPoolsMean = links_pool(Pool::kMean);
constexpr bool kPoolsMax = links_pool(Pool::kMax);
constexpr bool kPoolsLast = links_pool(Pool::kLast);
constexpr bool kPoolsAll = kPoolsMean || kPoolsMax || links_pool(Pool::kSum);  // modes that read all rows

/// A vector of columns, pooled over all rows.
template <class Lanes>
BANTAM_INLINE F32 pool_columns(const PoolRows& a, uint32_t column, Lanes lanes) {
  const uint32_t first = kPoolsLast && a.kind == Pool::kLast ? a.row_end - 1 : a.row_begin;
  F32 v = pool_vector(a, first, column, lanes);
  if (!kPoolsAll || a.kind == Pool::kFirst || a.kind == Pool::kLast) return v;
  for (uint32_t r = a.row_begin + 1; r < a.row_end; ++r) {
    const F32 next = pool_vector(a, r, column, lanes);
    v = kPoolsMax && a.kind == Pool::kMax ? max(v, next) : v + next;
  }
  if (kPoolsMean && a.kind == Pool::kMean) v = v / splat(static_cast<float>(a.row_end - a.row_begin));
  return v;
}

inline bool pool_rows(const PoolRows& a) {
  I32 worst = splat(int32_t{0});
  Sums squares{};
  for_vectors(
      a.width, [&](uint32_t i, auto lanes) __attribute__((always_inline)) {
        const F32 v = pool_columns(a, i, lanes);
        const F32 kept = lanes.keep_row(v);
        worst = max(worst, magnitude_bits(kept));
        if constexpr (linked::kUnitLength) partial(squares, i) = fma(kept, kept, partial(squares, i));
        store(a.y + i, v);
      });
  if (largest(worst) >= kInfinityBits) return false;
  if (!linked::kUnitLength || !a.l2) return true;

  const float root = square_root(total(squares));
  if (!is_finite(root)) return false;
  const F32 norm = splat(root > 1e-12f ? root : 1e-12f);
  for_vectors(
      a.width, [&](uint32_t i, auto) __attribute__((always_inline)) { store(a.y + i, load(a.y + i) / norm); });
  return true;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SOFTMAX_H_
