// What a static layer's sums become: numbers of fewer bits, or floats.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STORE_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STORE_H_

#include "kernels/generic/static_rows.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// y = rs(sat16(rs(sum + bias, pre_shift)) * multiplier, post_shift) of `count` sums, given to store(i, y) a step at a time: y(j) are
/// its vectors.
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

/// Outputs [column, column + count) of one row from their sums; count a multiple of 16.
BANTAM_NOINLINE inline void static_store(const StaticLinear& a, const Sum* sums, uint32_t row, uint32_t column,
                                         uint32_t count) {
  const Requantise how = a.requantise;  // which stores cannot alias
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
/// Rows [row, row + rows) by panels [panel, panel + kPanels) from their sums [rows][kPanels][16].
template <uint32_t kPanels>
BANTAM_NOINLINE void static_store_block(const StaticLinear& a, const int32_t (*sums)[16], uint32_t row, uint32_t rows,
                                        uint32_t panel) {
#if defined(BANTAM_KERNEL_OWN_INTS)
  if (a.y_f32 == nullptr) {
    const Requantise how = a.requantise;  // which stores cannot alias
    const uint32_t first = panel * 16;
    const RoundShift before(how.pre_shift);
    const RoundShift after(how.post_shift);
    const auto value = [&](uint32_t vector) __attribute__((always_inline)) {
      const uint32_t column = first + vector % kPanels * 16;
      const Ints sum = how.bias == nullptr ? load(sums[vector]) : load(sums[vector]) + load(how.bias + column);
      return after.down(multiply_add(sat16(before(sum)), load_factors(how.multiplier + column), after.half));
    };
    const auto place = [&](uint32_t vector) __attribute__((always_inline)) {
      return (row + vector / kPanels) * a.y_stride + first + vector % kPanels * 16;
    };
    const uint32_t vectors = rows * kPanels;
    if (a.y16 != nullptr) {
      for (uint32_t i = 0; i < vectors; ++i) store_words(a.y16 + place(i), sat16(value(i)));
      return;
    }
    const auto fours = [&](const auto& bytes_of) __attribute__((always_inline)) {
      for (uint32_t i = 0; i < vectors; i += 4) {
        I32 v[4];
        int8_t* to[4];
        BANTAM_UNROLL
        for (uint32_t j = 0; j < 4; ++j) {
          const uint32_t vector = i + j < vectors ? i + j : vectors - 1;
          v[j] = value(vector);
          to[j] = a.y8 + place(vector);
        }
        store_four(to, bytes_of(saturate_bytes(v)) ^ static_cast<int8_t>(kOffsetXor));
      }
    };
    if (a.table == nullptr) {
      fours([](FourBytes b) __attribute__((always_inline)) { return max(b, int8_t{-127}); });
    } else {
      const ByteTable table = load_byte_table(a.table);
      fours([&](FourBytes b) __attribute__((always_inline)) { return lookup(table, b); });
    }
    return;
  }
#endif
  for (uint32_t r = 0; r < rows; ++r) static_store(a, sums[r * kPanels], row + r, panel * 16, kPanels * 16);
}
#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STORE_H_
