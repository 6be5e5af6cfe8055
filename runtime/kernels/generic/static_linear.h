// static_linear: the blocks of linear_q8, whose sums become numbers of fewer bits. The last of the kernels: it wants
// linear_q8.h or linear_sums.h before it.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_LINEAR_H_
#define BANTAM_KERNELS_GENERIC_STATIC_LINEAR_H_

#include "kernels/generic/linear.h"
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

#if !defined(BANTAM_KERNEL_OWN_REPEATED_ROWS) && defined(BANTAM_KERNEL_ONE_LANE)
/// dot_block of the same rows with panels after panels.
struct RepeatedRows {
  BANTAM_INLINE void dot(const int8_t* x, const DotBlock& a) { dot_block(x, a); }
};
#endif

/// What a block of rows keeps from one call of `dot` to the next: nothing.
struct NothingOfRows {};

/// A few rows and panels at a time, whose sums the stack holds: dot(row, rows, panel, panels, sums, stride, kept) writes them.
template <uint32_t kRows, class Kept, class Dot>
BANTAM_INLINE void static_linear_sums(const StaticLinear& a, const Dot& dot) {
  constexpr uint32_t kPanels = 4;
  constexpr uint32_t kStride = kPanels * 16;
  Sum sums[kRows * kStride];
  for (uint32_t row = 0; row < a.rows; row += kRows) {
    const uint32_t rows = a.rows - row < kRows ? a.rows - row : kRows;
    Kept kept;
    for (uint32_t panel = 0; panel < a.n / 16; panel += kPanels) {
      const uint32_t panels = a.n / 16 - panel < kPanels ? a.n / 16 - panel : kPanels;
      dot(row, rows, panel, panels, sums, kStride, kept);
      for (uint32_t r = 0; r < rows; ++r) static_store(a, sums + r * kStride, row + r, panel * 16, panels * 16);
    }
  }
}

/// static_linear of weights in rows.
inline bool static_linear_k16(const StaticLinear& a) {
  const size_t panel_bytes = size_t{pad16(a.k)} * 16;
  const auto dot = [&](uint32_t row, uint32_t rows, uint32_t panel, uint32_t panels, Sum* sums, size_t stride,
                       NothingOfRows&) {
    dot_k16({a.x + row * a.x_stride, a.x_stride, rows, a.w + panel * panel_bytes, a.k, panels * 16, sums, stride});
  };
  static_linear_sums<(BANTAM_LINK_ROWS < 6 ? 4 : 6), NothingOfRows>(a, dot);
  return true;
}

#if defined(BANTAM_KERNEL_ONE_LANE)

inline bool static_linear(const StaticLinear& a) {
  if constexpr (!linked::kStatic) return false;
  if (a.k16) return static_linear_k16(a);
  const size_t panel_bytes = size_t{a.k} * 16;
  const auto dot = [&](uint32_t row, uint32_t rows, uint32_t panel, uint32_t panels, Sum* sums, size_t stride,
                       RepeatedRows& kept) {
    kept.dot(a.x + row * a.x_stride,
             {a.x_stride, rows, a.w + panel * panel_bytes, panel_bytes, panels, a.k / 4, sums, stride, false});
  };
  static_linear_sums<4, RepeatedRows>(a, dot);
  return true;
}

#else

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

template <uint32_t kRows, uint32_t kPanels>
BANTAM_NOINLINE bool static_linear_block(const StaticLinear& a, uint32_t row, uint32_t panel, Ahead ahead) {
  const int8_t* x = a.x + row * a.x_stride;
  RegisterBlock<kRows, kPanels> block;
  start_sums<kPanels>(block, a.w_sum + panel * 16);
  const size_t w_stride = size_t{a.k} * 16;
  if constexpr (kRows <= 2) {
    block.add(x, a.x_stride, a.w + panel * w_stride, w_stride, a.k / 4);
  } else {
    block.add(x, a.x_stride, a.w + panel * w_stride, w_stride, a.k / 4, ahead);
  }
  int32_t sums[kRows * kPanels][16];
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) store(sums[r * kPanels + p], block.get(r, p));
  }
  static_store_block<kPanels>(a, sums, row, kRows, panel);
  return true;
}

static_assert(even_blocks(block_panels, kMaxRows), "see linear_blocks");

template <uint32_t kRows>
constexpr BlockChoice<StaticLinear> static_choice() {
  return {static_linear_block<kRows, block_panels(kRows)>, static_linear_block<kRows, 1>, block_panels(kRows)};
}

template <uint32_t... kIndex>
BANTAM_INLINE bool static_linear_with(const StaticLinear& a, Indices<kIndex...>) {
  static constexpr BlockChoice<StaticLinear> kChoices[] = {static_choice<kIndex + 1>()...};
  return linear_blocks(a, kChoices, sizeof...(kIndex));
}

inline bool static_linear(const StaticLinear& a) {
  if constexpr (!linked::kStatic) return false;
  if (a.k16) return static_linear_k16(a);
  return static_linear_with(a, MakeIndices<kMaxRows>::type{});
}

#endif

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_LINEAR_H_
