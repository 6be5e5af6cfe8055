// static_norm on 16 lanes: two passes over a row.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_NORM_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_NORM_H_

#include "kernels/generic/static/static_rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// The sum of a row and of its squares.
struct RowMoments {
  int32_t total;
  uint64_t squares;

  /// The sum of (h - mean)^2.
  BANTAM_INLINE uint64_t around(int32_t mean, uint32_t width) const {
    return squares - static_cast<uint64_t>(2 * int64_t{mean} * total) +
           static_cast<uint64_t>(int64_t{mean} * mean) * width;
  }
};

/// Adds the residual, if there is one.
BANTAM_INLINE RowMoments add_residual(const StaticNorm& a, int16_t* h, const int8_t* residual) {
  const uint32_t end = pad16(a.width);
  const RoundShift round(a.residual_shift);
  I32 total = splat(int32_t{0});
  I32 low = total, high = total;  // halves of squares: kMaxStaticWidth of them stay below 2^31
  for (uint32_t i = 0; i < end; i += 16) {
    I32 v = load_words(h + i);
    if (residual != nullptr) {
      const I32 scaled =
          multiply_add(stored(load_i8(residual + i)), load_factors(a.residual_multiplier + i), round.half);
      v = sat16(v + round.down(scaled));
      store_words(h + i, v);
    }
    total = total + v;
    const I32 square = multiply_add(v, as_factors(v & splat(int32_t{0xffff})), splat(int32_t{0}));
    low = low + (square & splat(int32_t{0xffff}));
    high = high + shift_right_logical<16>(square);
  }
  RowMoments moments = {sum(total),
                        (uint64_t{static_cast<uint32_t>(sum(high))} << 16) + static_cast<uint32_t>(sum(low))};
  for (uint32_t i = a.width; i < end; ++i) {
    moments.total -= h[i];
    moments.squares -= static_cast<uint32_t>(h[i] * h[i]);
  }
  return moments;
}

BANTAM_INLINE void store_normed(const StaticNorm& a, const int16_t* h, int32_t mean, Reciprocal root, int8_t* y) {
  // The factor is 2^15 if all numbers of the row are equal; then any factor yields 0. All other factors fit in 16 bits.
  if (root.factor > INT16_MAX) root.factor = 0;
  const RoundShift root_round(root.shift);
  const RoundShift round(a.shift);
  const Factors factor = splat_factor(root.factor);
  // (h - mean) * factor + half; only the part with h varies.
  const auto part = static_cast<uint32_t>(mean) * static_cast<uint32_t>(root.factor);
  const I32 offset = splat(static_cast<int32_t>(static_cast<uint32_t>(root_round.half) - part));
  const auto value = [&](uint32_t i) __attribute__((always_inline)) {
    const I32 z = sat16(root_round.down(multiply_add(load_words(h + i), factor, offset)));
    return round.down(multiply_add(z, load_factors(a.gamma + i), load(a.beta + i) + splat(round.half)));
  };
  uint32_t i = 0;
  for (; i + 64 <= a.width; i += 64) {
    const I32 four[4] = {value(i), value(i + 16), value(i + 32), value(i + 48)};
    store_four(y + i, max(saturate_bytes(four), int8_t{-127}) ^ static_cast<int8_t>(kOffsetXor));
  }
  for (; i < a.width; i += 16) store_ints(y + i, stored(sat8(value(i))));
  memset(y + a.width, kOffsetXor, pad16(a.width) - a.width);
}

/// Rows that are normalized together: between the passes there is a chain of dependent steps, two divisions and a root.
constexpr uint32_t kNormedRows = 8;

inline bool static_norm(const StaticNorm& args) {
  if constexpr (!linked::kStatic) return false;
  const StaticNorm a = args;  // local copy, which stores cannot alias
  for (uint32_t first = 0; first < a.rows; first += kNormedRows) {
    const uint32_t rows = a.rows - first < kNormedRows ? a.rows - first : kNormedRows;
    RowMoments moments[kNormedRows];
    for (uint32_t i = 0; i < rows; ++i) {
      const size_t r = first + i;
      const int8_t* residual = a.residual == nullptr ? nullptr : a.residual + r * a.residual_stride;
      moments[i] = add_residual(a, a.h + r * a.h_stride, residual);
    }
    int32_t mean[kNormedRows];
    Reciprocal root[kNormedRows];
    for (uint32_t i = 0; i < rows; ++i) {
      mean[i] = rounded_mean(moments[i].total, a.width);
      root[i] = reciprocal_root(a.epsilon + moments[i].around(mean[i], a.width));
    }
    for (uint32_t i = 0; i < rows; ++i) {
      const size_t r = first + i;
      store_normed(a, a.h + r * a.h_stride, mean[i], root[i], a.y + r * a.y_stride);
    }
  }
  return true;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_NORM_H_
