// int8 dot product with smmla: two rows by two outputs by eight k. Two tiles of four k are contiguous; interleaving
// their halves in registers yields the eight k of two outputs.
#ifndef BANTAM_KERNELS_NEONI8MM_DOT_H_
#define BANTAM_KERNELS_NEONI8MM_DOT_H_

#include <type_traits>

#include "kernels/neon/ints.h"
#include "kernels/neon/row_sums.h"
#include "kernels/neondot/lane_block.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;
constexpr bool kOffsetInDots = false;

BANTAM_INLINE int8x16_t load_sixteen(const int8_t* p) { return vld1q_s8(p); }
BANTAM_INLINE uint8x16_t load_sixteen(const uint8_t* p) { return vld1q_u8(p); }
/// The lower, or upper, halves of two registers.
BANTAM_INLINE int8x16_t lower_halves(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vzip1q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
BANTAM_INLINE int8x16_t upper_halves(int8x16_t a, int8x16_t b) {
  return vreinterpretq_s8_s64(vzip2q_s64(vreinterpretq_s64_s8(a), vreinterpretq_s64_s8(b)));
}
BANTAM_INLINE uint8x16_t lower_halves(uint8x16_t a, uint8x16_t b) {
  return vreinterpretq_u8_s8(lower_halves(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}
BANTAM_INLINE uint8x16_t upper_halves(uint8x16_t a, uint8x16_t b) {
  return vreinterpretq_u8_s8(upper_halves(vreinterpretq_s8_u8(a), vreinterpretq_s8_u8(b)));
}
BANTAM_INLINE int32x4_t multiply(int32x4_t sums, int8x16_t x, int8x16_t w) { return vmmlaq_s32(sums, x, w); }
BANTAM_INLINE int32x4_t multiply(int32x4_t sums, uint8x16_t x, int8x16_t w) { return vusmmlaq_s32(sums, x, w); }

/// A RegisterBlock for two or more rows: see generic/quad_block.h. An odd last row is multiplied twice.
template <uint32_t kRows, uint32_t kPanels>
struct PairBlock {
  static constexpr uint32_t kPairs = (kRows + 1) / 2;
  /// [pair of rows][panel][pair of outputs]: the first row's two sums, then the second row's.
  int32x4_t acc[kPairs][kPanels][8];

  BANTAM_INLINE void clear() { clear_sums(acc); }
  BANTAM_INLINE void start(const int32_t (&)[kRows]) { clear(); }

  BANTAM_INLINE void add_keys(const int8_t* x, size_t x_stride, const int8_t* keys, size_t stride, uint32_t quads) {
    add(x, x_stride, keys, stride, quads);
  }
  template <class... MaybeAhead>
  BANTAM_INLINE void add(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads,
                         MaybeAhead... ahead) {
    if constexpr (kPairs <= 2) {
      add_columns<0, 4>(x, x_stride, w, w_stride, quads, ahead...);
    } else {
      add_columns<0, 2>(x, x_stride, w, w_stride, quads, ahead...);
      add_columns<2, 2>(x, x_stride, w, w_stride, quads);
    }
  }

  BANTAM_INLINE void add_page(const uint8_t* u, size_t u_stride, const int8_t* w, size_t w_stride) {
    if constexpr (kPairs <= 2) {
      add_sixteen<0, 4>(u, u_stride, w, w_stride);
    } else {
      add_sixteen<0, 2>(u, u_stride, w, w_stride);
      add_sixteen<2, 2>(u, u_stride, w, w_stride);
    }
  }

  BANTAM_INLINE I32x16 get(uint32_t r, uint32_t p) const {
    I32x16 sums;
    BANTAM_UNROLL
    for (uint32_t j = 0; j < 4; ++j) {
      const int64x2_t a = vreinterpretq_s64_s32(acc[r / 2][p][2 * j]);
      const int64x2_t b = vreinterpretq_s64_s32(acc[r / 2][p][2 * j + 1]);
      sums.v[j] = vreinterpretq_s32_s64(r % 2 == 0 ? vzip1q_s64(a, b) : vzip2q_s64(a, b));
    }
    return sums;
  }

 private:
  /// Adds to outputs [4 * kFirst, 4 * (kFirst + kCount)) of each panel: as many sums as the registers hold.
  template <uint32_t kFirst, uint32_t kCount, class... MaybeAhead>
  BANTAM_INLINE void add_columns(const int8_t* x, size_t x_stride, const int8_t* w, size_t w_stride, uint32_t quads,
                                 MaybeAhead... ahead) {
    for (; quads >= 4; quads -= 4, x += 16, w += 256) {
      add_sixteen<kFirst, kCount>(x, x_stride, w, w_stride);
      ((fetch_line(ahead), fetch_line(ahead), fetch_line(ahead), fetch_line(ahead)), ...);
    }
    // The k of the missing second tile are zero on both sides.
    for (; quads != 0; --quads, x += 4, w += 64) {
      int8x16_t rows[kPairs];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kPairs; ++r) {
        rows[r] = lower_halves(four_bytes(x + 2 * r * x_stride), four_bytes(x + second(r) * x_stride));
      }
      add_tiles<kFirst, kCount>(
          rows, w, w_stride, [](const int8_t*) __attribute__((always_inline)) { return vdupq_n_s8(0); });
    }
  }
  /// Index of the second row of pair r.
  static constexpr uint32_t second(uint32_t r) { return 2 * r + 1 < kRows ? 2 * r + 1 : 2 * r; }
  static BANTAM_INLINE int8x16_t four_bytes(const int8_t* p) {
    int32_t four;
    memcpy(&four, p, 4);
    return vreinterpretq_s8_s32(vsetq_lane_s32(four, vdupq_n_s32(0), 0));
  }

  /// Adds sixteen k of every row: q8 activations or probabilities.
  template <uint32_t kFirst, uint32_t kCount, class Element>
  BANTAM_INLINE void add_sixteen(const Element* x, size_t x_stride, const int8_t* w, size_t w_stride) {
    decltype(load_sixteen(x)) low[kPairs];
    decltype(load_sixteen(x)) high[kPairs];
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kPairs; ++r) {
      const auto a = load_sixteen(x + 2 * r * x_stride);
      const auto b = load_sixteen(x + second(r) * x_stride);
      low[r] = lower_halves(a, b);
      high[r] = upper_halves(a, b);
    }
    const auto next_tile = [](const int8_t* p) __attribute__((always_inline)) { return vld1q_s8(p + 64); };
    add_tiles<kFirst, kCount>(low, w, w_stride, next_tile);
    add_tiles<kFirst, kCount>(high, w + 128, w_stride, next_tile);
  }

  /// Adds two tiles: the one at w, and the one that second_tile returns for its registers' addresses.
  template <uint32_t kFirst, uint32_t kCount, class Rows, class SecondTile>
  BANTAM_INLINE void add_tiles(const Rows (&rows)[kPairs], const int8_t* w, size_t w_stride,
                               const SecondTile& second_tile) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      BANTAM_UNROLL
      for (uint32_t j = kFirst; j < kFirst + kCount; ++j) {
        const int8_t* from = w + p * w_stride + j * 16;
        const int32x4_t a = vreinterpretq_s32_s8(vld1q_s8(from));
        const int32x4_t b = vreinterpretq_s32_s8(second_tile(from));
        const int8x16_t outputs_01 = vreinterpretq_s8_s32(vzip1q_s32(a, b));
        const int8x16_t outputs_23 = vreinterpretq_s8_s32(vzip2q_s32(a, b));
        BANTAM_UNROLL
        for (uint32_t r = 0; r < kPairs; ++r) {
          acc[r][p][2 * j] = multiply(acc[r][p][2 * j], rows[r], outputs_01);
          acc[r][p][2 * j + 1] = multiply(acc[r][p][2 * j + 1], rows[r], outputs_23);
        }
      }
    }
  }
};

/// A single row cannot form a pair: sdot then takes fewer instructions.
template <uint32_t kRows, uint32_t kPanels>
using RegisterBlock = std::conditional_t<kRows == 1, LaneBlock<kRows, kPanels>, PairBlock<kRows, kPanels>>;

// 8 rows by half a panel, or 4 by a panel: 16 sums, 8 activations, 4 weights of 32 registers.
constexpr uint32_t kMaxRows = 8;
constexpr uint32_t block_panels(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }
constexpr uint32_t kMaxRowsF32 = 6;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_NEONI8MM_DOT_H_
