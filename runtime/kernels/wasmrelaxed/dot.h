// int8 dot product of relaxed SIMD: multiplies a signed byte by one of 7 bits and adds the four products of each lane.
// The result for 8 bits depends on the engine, so one side is |x|, at most 127, and the sign moves to the weight: the
// sums are the same everywhere.
#ifndef BANTAM_KERNELS_WASMRELAXED_DOT_H_
#define BANTAM_KERNELS_WASMRELAXED_DOT_H_

#include "kernels/wasm/ints.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;
constexpr bool kOffsetInDots = false;

struct Weights {
  v128_t v[4];
};
/// |x|, and a mask of the bytes whose x is negative.
struct SignedQuad {
  v128_t magnitude, negative;
};
/// Probabilities p as 2 * half + rest.
struct UnsignedQuad {
  v128_t half, rest;
};

BANTAM_INLINE Weights load_weights(const int8_t* p) {
  return {{wasm_v128_load(p), wasm_v128_load(p + 16), wasm_v128_load(p + 32), wasm_v128_load(p + 48)}};
}
/// Adds the four products of each lane to `sums`; bytes of `seven` have 7 bits. Two products fit in s16: 128 * 127 * 2.
BANTAM_INLINE v128_t dot(v128_t bytes, v128_t seven, v128_t sums) {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(bytes, seven, sums);
}
/// |v|, at most 127: a -128 occurs only in padding, where weights are 0 and any magnitude is correct.
BANTAM_INLINE SignedQuad signed_parts(v128_t v) {
  return {wasm_u8x16_min(wasm_i8x16_abs(v), wasm_i8x16_splat(127)), wasm_i8x16_lt(v, wasm_i8x16_splat(0))};
}
BANTAM_INLINE SignedQuad signed_quad(const void* p) { return signed_parts(wasm_v128_load32_splat(p)); }
BANTAM_INLINE UnsignedQuad unsigned_quad(const void* p) {
  const v128_t v = wasm_v128_load32_splat(p);
  return {wasm_v128_and(wasm_u16x8_shr(v, 1), wasm_i8x16_splat(127)), wasm_v128_and(v, wasm_i8x16_splat(1))};
}

/// |x| and the signs of a block's rows, for some quads at a time: computed once for all panels that a block multiplies.
#define BANTAM_KERNEL_PREPARES_ROWS
constexpr uint32_t kPreparedQuads = 64;
template <uint32_t kRows>
struct PreparedRows {
  alignas(16) uint8_t magnitude[kRows][kPreparedQuads * 4];
  alignas(16) uint8_t negative[kRows][kPreparedQuads * 4];

  /// The sum of |x| over the negative elements of each row: see Accumulator::add.
  int32_t below[kRows];

  /// Prepares `count` elements of each row, a multiple of 4.
  BANTAM_INLINE void prepare(const int8_t* x, size_t x_stride, uint32_t count, uint8_t) {
    for (uint32_t r = 0; r < kRows; ++r, x += x_stride) {
      v128_t total = wasm_i32x4_splat(0);
      const auto take = [&](v128_t v) __attribute__((always_inline)) {
        const SignedQuad parts = signed_parts(v);
        total = dot(wasm_i8x16_splat(1), wasm_v128_and(parts.magnitude, parts.negative), total);
        return parts;
      };
      uint32_t i = 0;
      for (; i + 16 <= count; i += 16) {
        const SignedQuad parts = take(wasm_v128_load(x + i));
        wasm_v128_store(magnitude[r] + i, parts.magnitude);
        wasm_v128_store(negative[r] + i, parts.negative);
      }
      for (; i < count; i += 4) {
        const SignedQuad parts = take(wasm_v128_load32_zero(x + i));
        wasm_v128_store32_lane(magnitude[r] + i, parts.magnitude, 0);
        wasm_v128_store32_lane(negative[r] + i, parts.negative, 0);
      }
      below[r] = wasm_i32x4_extract_lane(fold_lanes(total, AddIntegers{}), 0);
    }
  }
  BANTAM_INLINE SignedQuad quad(uint32_t r, uint32_t i) const {
    return {wasm_v128_load32_splat(magnitude[r] + size_t{i} * 4), wasm_v128_load32_splat(negative[r] + size_t{i} * 4)};
  }
};

struct Accumulator {
  v128_t v[4];

  Accumulator() = default;
  BANTAM_INLINE explicit Accumulator(I32x16 start) : v{start.v[0], start.v[1], start.v[2], start.v[3]} {}
  /// |x| by w, or by ~w if x is negative: there x * w = |x| * ~w + |x|, and those |x| are added at the end.
  BANTAM_INLINE void add(SignedQuad q, Weights w) {
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 4; ++i) v[i] = dot(wasm_v128_xor(w.v[i], q.negative), q.magnitude, v[i]);
  }
  BANTAM_INLINE void add(UnsignedQuad q, Weights w) {
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 4; ++i) v[i] = dot(w.v[i], q.rest, dot(w.v[i], q.half, dot(w.v[i], q.half, v[i])));
  }
  BANTAM_INLINE I32x16 get() const { return {{v[0], v[1], v[2], v[3]}}; }
};

/// Sparse weights: four weights of each of four outputs, for all rows.
struct WeightQuads {
  BANTAM_INLINE explicit WeightQuads(const int8_t* w)
      : magnitudes(wasm_i8x16_abs(wasm_v128_load(w))),
        negatives(wasm_i8x16_lt(wasm_v128_load(w), wasm_i8x16_splat(0))) {}
  v128_t magnitudes, negatives;
};
constexpr uint32_t kSparseVectors = 1;
/// The sums of one output for 16 rows, or for the first eight or four of them.
template <uint32_t kRows>
struct RowSums {
  v128_t v[4];

  RowSums() = default;
  BANTAM_INLINE explicit RowSums(I32x16 start) : v{start.v[0], start.v[1], start.v[2], start.v[3]} {}
  /// rows[16][4]; multiplies |w| by x with the sign of w. An x of -128 occurs only in padding, where weights are 0.
  template <int kOutput>
  BANTAM_INLINE void add(const WeightQuads& quads, const int8_t* rows) {
    const v128_t w = wasm_i32x4_shuffle(quads.magnitudes, quads.magnitudes, kOutput, kOutput, kOutput, kOutput);
    const v128_t sign = wasm_i32x4_shuffle(quads.negatives, quads.negatives, kOutput, kOutput, kOutput, kOutput);
    BANTAM_UNROLL
    for (uint32_t i = 0; i < kRows / 4; ++i) {
      v[i] = dot(wasm_i8x16_sub(wasm_v128_xor(wasm_v128_load(rows + i * 16), sign), sign), w, v[i]);
    }
  }
  BANTAM_INLINE I32x16 get() const { return {{v[0], v[1], v[2], v[3]}}; }
};

/// The fewest rows that have sums of their own: FewSums in generic/linear_sparse.h.
constexpr uint32_t kFewestSums = 4;

// 2 rows by a panel: 8 sums, 4 weights, |x|, its signs and one product use the 15 registers that engines have on x86.
constexpr uint32_t kMaxRows = 2;
constexpr uint32_t block_panels(uint32_t) { return 1; }
constexpr uint32_t kMaxRowsF32 = 2;
constexpr uint32_t block_panels_f32(uint32_t) { return 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The block, after the quads.
#include "kernels/generic/quad_block.h"

#endif  // BANTAM_KERNELS_WASMRELAXED_DOT_H_
