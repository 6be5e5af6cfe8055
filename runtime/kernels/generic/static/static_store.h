// Converts a static layer's sums to numbers of fewer bits, or to floats.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_STORE_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_STORE_H_

#include "kernels/generic/static/static_rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// y = rs(sat16(rs(sum + bias, pre_shift)) * multiplier, post_shift) for `count` sums; passes them to store(i, y) one
/// step at a time, where y(j) are the step's vectors.
template <class Store>
BANTAM_TINY void requantise(const Requantise& a, const Sum* sums, uint32_t column, uint32_t count, const Store& store) {
  const RoundShift before(a.pre_shift);
  const RoundShift after(a.post_shift);
  const int16_t* multiplier = a.multiplier + column;
  const int32_t none[kIntStep] = {};
  const int32_t* bias = a.bias == nullptr ? none : a.bias + column;
  const uint32_t further = a.bias == nullptr ? 0 : kIntStep;
  for (uint32_t i = 0; i < count; i += kIntStep, bias += further) {
    store(
        i, [&](uint32_t j) __attribute__((always_inline)) {
          const Ints sum = plus(load_ints(sums + i + j), load_ints(bias + j));
          return after.down(multiply_add(sat16(before(sum)), load_factors(multiplier + i + j), after.half));
        });
  }
}

/// Stores outputs [column, column + count) of one row from their sums; count is a multiple of 16.
BANTAM_NOINLINE inline void static_store(const StaticLinear& a, const Sum* sums, uint32_t row, uint32_t column,
                                         uint32_t count) {
  const Requantise how = a.requantise;  // local copy, which stores cannot alias
  const size_t at = row * a.y_stride + column;
  if (a.y_f32 != nullptr) {
    for (uint32_t i = 0; i < count; ++i) {
      const int32_t sum = how.bias == nullptr ? sums[i] : wrapping_add(sums[i], how.bias[column + i]);
      a.y_f32[at + i] = static_cast<float>(sum) * a.scale[column + i];
    }
    return;
  }
  if (a.y16 != nullptr) {
    int16_t* y = a.y16 + at;
    requantise(
        how, sums, column, count, [y](uint32_t i, const auto& v) __attribute__((always_inline)) {
          for_step([&](uint32_t j) __attribute__((always_inline)) { store_ints(y + i + j, sat16(v(j))); });
        });
    return;
  }
  int8_t* y = a.y8 + at;
  if (const int8_t* table = a.table) {
    requantise(
        how, sums, column, count, [ y, table ](uint32_t i, const auto& v) __attribute__((always_inline)) {
          for_step([&](uint32_t j) __attribute__((always_inline)) {
            store_ints(y + i + j, stored(lookup_ints(table, byte_range(v(j)))));
          });
        });
  } else {
    requantise(
        how, sums, column,
        count, [y](uint32_t i, const auto& v) __attribute__((always_inline)) { store_sat8(y + i, v); });
  }
}

#if !defined(BANTAM_KERNEL_ONE_LANE)

/// Returns the terms to add to sums of 16 outputs that began with 0: the offset of the rows if dot products have one,
/// the bias and, for numbers of fewer bits, the rounding of the first shift.
BANTAM_INLINE I32 static_start(const StaticLinear& a, uint32_t column) {
  I32 start = splat(a.y_f32 != nullptr ? 0 : RoundShift(a.requantise.pre_shift).half);
  if (a.requantise.bias != nullptr) start = start + load(a.requantise.bias + column);
  if constexpr (kOffsetInDots) start = start + times_minus_128(load(a.w_sum + column));
  return start;
}

/// Converts a sum that includes the bias and the rounding.
BANTAM_INLINE I32 static_value(I32 sum, Factors by, const RoundShift& before, const RoundShift& after) {
  return after.down(multiply_add(sat16(before.down(sum)), by, after.half));
}

/// Converts the sums of kPanels panels to numbers of fewer bits. kStarted: the sums began with static_start.
template <uint32_t kPanels, bool kStarted>
struct StaticValues {
  RoundShift before, after;
  Factors factors[kPanels];
  I32 start[kPanels];

  BANTAM_INLINE StaticValues(const StaticLinear& a, uint32_t column)
      : before(a.requantise.pre_shift), after(a.requantise.post_shift) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      factors[p] = load_factors(a.requantise.multiplier + column + p * 16);
      if constexpr (!kStarted) start[p] = static_start(a, column + p * 16);
    }
  }
  BANTAM_INLINE I32 of(I32 sum, uint32_t p) const {
    if constexpr (!kStarted) sum = sum + start[p];
    return static_value(sum, factors[p], before, after);
  }
};

/// Limits bytes to at least -127; they are in stored form except for the offset.
BANTAM_INLINE FourBytes limited(FourBytes b) { return max(b, int8_t{-127}); }
/// Calls f(bytes_of), where bytes_of converts saturated bytes to those of the layer's y8.
template <class F>
BANTAM_INLINE void with_bytes_of(const StaticLinear& a, const F& f) {
  if (a.table == nullptr) {
    f([](FourBytes b) __attribute__((always_inline)) { return limited(b); });
  } else {
    const ByteTable table = load_byte_table(a.table);
    f([&](FourBytes b) __attribute__((always_inline)) { return lookup(table, b); });
  }
}

/// Calls f(r) for every kStep-th of `rows` rows; kRows: the number of rows if known at compile time, so that arrays
/// stay in registers, else 0.
template <uint32_t kRows, uint32_t kStep, class F>
BANTAM_INLINE void for_rows(uint32_t rows, const F& f) {
  if constexpr (kRows != 0) {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; r += kStep) f(r);
  } else {
    for (uint32_t r = 0; r < rows; r += kStep) f(r);
  }
}

/// Stores `rows` rows of kPanels panels of bytes from y on, from value_of(r, p); bytes_of converts four vectors at a
/// time. kRows as in for_rows.
template <uint32_t kRows, uint32_t kPanels, class ValueOf, class BytesOf>
BANTAM_INLINE void store_static_bytes(int8_t* y, size_t y_stride, uint32_t rows, const ValueOf& value_of,
                                      const BytesOf& bytes_of) {
  static_assert(kPanels < 4 || kPanels % 4 == 0, "vectors of one row fill fours");
  constexpr uint32_t kTogether = kPanels < 4 ? 4 / kPanels : 1;  // rows
  for_rows<kRows, kTogether>(
      rows, [&](uint32_t r) __attribute__((always_inline)) {
        BANTAM_UNROLL
        for (uint32_t first = 0; first < kPanels; first += 4) {
          I32 v[4];
          int8_t* to[4];
          BANTAM_UNROLL
          for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t wanted = r + i / kPanels;
            const uint32_t from = wanted < rows ? wanted : rows - 1;  // repeats a row instead of a missing one
            const uint32_t p = kPanels < 4 ? i % kPanels : first + i;
            v[i] = value_of(from, p);
            to[i] = y + from * y_stride + p * 16;
          }
          store_four(to, bytes_of(saturate_bytes(v)) ^ static_cast<int8_t>(kOffsetXor));
        }
      });
}

/// Stores rows [row, row + rows) by panels [panel, panel + kPanels) of y8 or y16 from their sums, sum_of(r, p). kRows
/// as in for_rows.
template <uint32_t kRows, uint32_t kPanels, bool kStarted, class SumOf>
BANTAM_INLINE void store_static_values(const StaticLinear& a, uint32_t row, uint32_t rows, uint32_t panel,
                                       const SumOf& sum_of) {
  const StaticValues<kPanels, kStarted> values(a, panel * 16);
  const auto value_of = [&](uint32_t r, uint32_t p) __attribute__((always_inline)) {
    return values.of(sum_of(r, p), p);
  };
  if (a.y16 != nullptr) {
    int16_t* y = a.y16 + row * a.y_stride + panel * 16;
    for_rows<kRows, 1>(
        rows, [&](uint32_t r) __attribute__((always_inline)) {
          BANTAM_UNROLL
          for (uint32_t p = 0; p < kPanels; ++p) store_words(y + r * a.y_stride + p * 16, sat16(value_of(r, p)));
        });
    return;
  }
  int8_t* y = a.y8 + row * a.y_stride + panel * 16;
  with_bytes_of(
      a, [&](const auto& bytes_of) __attribute__((always_inline)) {
        store_static_bytes<kRows, kPanels>(y, a.y_stride, rows, value_of, bytes_of);
      });
}

/// The same, or for y_f32, from sums [rows][kPanels][16] in memory.
template <uint32_t kPanels, bool kStarted>
BANTAM_NOINLINE void static_store_block(const StaticLinear& a, const int32_t (*sums)[16], uint32_t row, uint32_t rows,
                                        uint32_t panel) {
  if (a.y_f32 == nullptr) {
    return store_static_values<0, kPanels, kStarted>(
        a, row, rows,
        panel, [&](uint32_t r, uint32_t p) __attribute__((always_inline)) { return load(sums[r * kPanels + p]); });
  }
  for (uint32_t p = 0; p < kPanels; ++p) {
    const uint32_t column = (panel + p) * 16;
    const I32 start = kStarted ? splat(int32_t{0}) : static_start(a, column);
    const F32 scale = load(a.scale + column);
    for (uint32_t r = 0; r < rows; ++r) {
      store(a.y_f32 + (row + r) * a.y_stride + column, to_f32(load(sums[r * kPanels + p]) + start) * scale);
    }
  }
}
#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_STORE_H_
