// int8 dot product of SIMD128: loads extend bytes to 16 bits, dot_i16x8 multiplies eight of them and adds adjacent
// products; each register has two outputs with two sums each.
#ifndef BANTAM_KERNELS_WASM_DOT_H_
#define BANTAM_KERNELS_WASM_DOT_H_

#include "kernels/wasm/ints.h"
// Vectors must be included first.
#include "kernels/generic/blocks.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;
constexpr bool kOffsetInDots = false;

/// Adds adjacent sums: eight become four.
BANTAM_INLINE v128_t add_neighbours(v128_t low, v128_t high) {
  return wasm_i32x4_add(wasm_i32x4_shuffle(low, high, 0, 2, 4, 6), wasm_i32x4_shuffle(low, high, 1, 3, 5, 7));
}

/// See generic/quad_block.h.
template <uint32_t kRows, uint32_t kPanels>
struct RegisterBlock {
  static_assert(kPanels == 1, "see block_panels");
  /// [2 * j + h]: outputs 4 j + 2 h and the next, two sums each: for k % 4 < 2 and for the others.
  v128_t acc[kRows][8];

  BANTAM_INLINE void clear() {
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r) {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < 8; ++i) acc[r][i] = wasm_i32x4_splat(0);
    }
  }
  BANTAM_INLINE void start(const int32_t (&)[kRows]) { clear(); }

  BANTAM_INLINE void add_keys(const int8_t* x, size_t x_stride, const int8_t* keys, size_t stride, uint32_t quads) {
    add(x, x_stride, keys, stride, quads);
  }
  template <class... MaybeAhead>
  BANTAM_INLINE void add(const int8_t* x, size_t x_stride, const int8_t* w, size_t, uint32_t quads, MaybeAhead...) {
    if constexpr (kRows == 1) {
      add_columns<0, 4>(x, x_stride, w, quads);
    } else {
      add_columns<0, 2>(x, x_stride, w, quads);
      add_columns<2, 2>(x, x_stride, w, quads);
    }
  }

  BANTAM_INLINE void add_page(const uint8_t* u, size_t u_stride, const int8_t* w, size_t) {
    for (uint32_t quad = 0; quad < 4; ++quad, u += 4, w += 64) {
      v128_t rows[kRows];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r)
        rows[r] = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_splat(u + r * u_stride));
      add_quad<0, 4>(rows, w);
    }
  }

  BANTAM_INLINE I32x16 get(uint32_t r, uint32_t) const {
    I32x16 sums;
    BANTAM_UNROLL
    for (uint32_t j = 0; j < 4; ++j) sums.v[j] = add_neighbours(acc[r][2 * j], acc[r][2 * j + 1]);
    return sums;
  }

 private:
  /// Adds to outputs [4 * kFirst, 4 * (kFirst + kCount)): as many sums as the registers hold.
  template <uint32_t kFirst, uint32_t kCount>
  BANTAM_INLINE void add_columns(const int8_t* x, size_t x_stride, const int8_t* w, uint32_t quads) {
    v128_t rows[kRows];
    for (; quads >= 2; quads -= 2, x += 8, w += 128) {
      v128_t next[kRows];
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r) {
        const v128_t both = wasm_i16x8_load8x8(x + r * x_stride);
        rows[r] = wasm_i64x2_shuffle(both, both, 0, 0);
        next[r] = wasm_i64x2_shuffle(both, both, 1, 1);
      }
      add_quad<kFirst, kCount>(rows, w);
      add_quad<kFirst, kCount>(next, w + 64);
    }
    if (quads == 0) return;
    BANTAM_UNROLL
    for (uint32_t r = 0; r < kRows; ++r)
      rows[r] = wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(x + r * x_stride));
    add_quad<kFirst, kCount>(rows, w);
  }
  /// rows: four 16-bit numbers, repeated.
  template <uint32_t kFirst, uint32_t kCount>
  BANTAM_INLINE void add_quad(const v128_t (&rows)[kRows], const int8_t* w) {
    BANTAM_UNROLL
    for (uint32_t i = 2 * kFirst; i < 2 * (kFirst + kCount); ++i) {
      const v128_t weights = wasm_i16x8_load8x8(w + i * 8);
      BANTAM_UNROLL
      for (uint32_t r = 0; r < kRows; ++r)
        acc[r][i] = wasm_i32x4_add(acc[r][i], wasm_i32x4_dot_i16x8(weights, rows[r]));
    }
  }
};

/// Sparse weights: four weights of each of four outputs, for all rows.
struct WeightQuads {
  BANTAM_INLINE explicit WeightQuads(const int8_t* w) : low(wasm_i16x8_load8x8(w)), high(wasm_i16x8_load8x8(w + 8)) {}
  v128_t low, high;
};
constexpr uint32_t kSparseVectors = 1;
/// The sums of one output for 16 rows, or for the first eight or four of them.
template <uint32_t kRows>
struct RowSums {
  v128_t v[4];

  RowSums() = default;
  BANTAM_INLINE explicit RowSums(I32x16 start) : v{start.v[0], start.v[1], start.v[2], start.v[3]} {}
  /// rows[16][4].
  template <int kOutput>
  BANTAM_INLINE void add(const WeightQuads& quads, const int8_t* rows) {
    const v128_t two = kOutput < 2 ? quads.low : quads.high;
    const v128_t w = wasm_i64x2_shuffle(two, two, kOutput % 2, kOutput % 2);
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kRows / 4; ++i, rows += 16) {
      const v128_t low = wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(rows), w);
      const v128_t high = wasm_i32x4_dot_i16x8(wasm_i16x8_load8x8(rows + 8), w);
      v[i] = wasm_i32x4_add(v[i], add_neighbours(low, high));
    }
  }
  BANTAM_INLINE I32x16 get() const { return {{v[0], v[1], v[2], v[3]}}; }
};

/// The fewest rows that have sums of their own: FewSums in generic/linear_sparse.h.
constexpr uint32_t kFewestSums = 4;

// 2 rows by half a panel: 8 sums, 4 rows, 1 register of weights and 1 product of the 15 registers that engines have on
// x86.
constexpr uint32_t kMaxRows = 2;
constexpr uint32_t block_panels(uint32_t) { return 1; }
constexpr uint32_t kMaxRowsF32 = 2;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_WASM_DOT_H_
