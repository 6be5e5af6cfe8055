// The 16-lane vector types as four 128-bit WebAssembly registers, for both of its tables. kernels/reference/vector.h
// defines each operation.
#ifndef BANTAM_KERNELS_WASM_VECTOR_H_
#define BANTAM_KERNELS_WASM_VECTOR_H_

#include <wasm_simd128.h>

#include "kernels/generic/soft_float.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

struct F32x16 {
  v128_t v[4];
};
struct I32x16 {
  v128_t v[4];
};
/// All bits of a lane are set if it is on.
struct Mask16 {
  v128_t v[4];
};

/// Returns f(i) for each of the four registers. wasm/ints.h undefines the macro at its end.
template <class Vector, class F>
BANTAM_INLINE Vector by_register(const F& f) {
  return {{f(0), f(1), f(2), f(3)}};
}
#define BANTAM_REGISTERS(Vector, expression) \
  by_register<Vector>([&](int i) __attribute__((always_inline)) { return expression; })

// ---- masks
BANTAM_INLINE Mask16 less(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(Mask16, wasm_f32x4_lt(x.v[i], y.v[i])); }
BANTAM_INLINE Mask16 lanes_between(int32_t begin, int32_t end) {
  const v128_t first = wasm_i32x4_const(0, 1, 2, 3);
  const auto lanes = [&](int i) __attribute__((always_inline)) {
    return wasm_i32x4_add(first, wasm_i32x4_splat(4 * i));
  };
  return BANTAM_REGISTERS(Mask16, wasm_v128_and(wasm_i32x4_ge(lanes(i), wasm_i32x4_splat(begin)),
                                                wasm_i32x4_lt(lanes(i), wasm_i32x4_splat(end))));
}
BANTAM_INLINE F32x16 select(Mask16 m, F32x16 on, F32x16 off) {
#if defined(__wasm_relaxed_simd__)
  return BANTAM_REGISTERS(F32x16, wasm_i32x4_relaxed_laneselect(on.v[i], off.v[i], m.v[i]));
#else
  return BANTAM_REGISTERS(F32x16, wasm_v128_bitselect(on.v[i], off.v[i], m.v[i]));
#endif
}
BANTAM_INLINE F32x16 keep(Mask16 m, F32x16 x) { return BANTAM_REGISTERS(F32x16, wasm_v128_and(m.v[i], x.v[i])); }

// ---- memory
BANTAM_INLINE F32x16 load(const float* p) { return BANTAM_REGISTERS(F32x16, wasm_v128_load(p + 4 * i)); }
BANTAM_INLINE void store(float* p, F32x16 x) {
  BANTAM_UNROLL
  for (int i = 0; i < 4; ++i) wasm_v128_store(p + 4 * i, x.v[i]);
}
// Loops: memory.copy or a call takes longer for a few bytes.
BANTAM_INLINE F32x16 load_first(const float* p, uint32_t n) {
  float buffer[16] = {};
  for (uint32_t i = 0; i < n; ++i) buffer[i] = p[i];
  return load(buffer);
}
BANTAM_INLINE void store_first(float* p, F32x16 x, uint32_t n) {
  float buffer[16];
  store(buffer, x);
  for (uint32_t i = 0; i < n; ++i) p[i] = buffer[i];
}
BANTAM_INLINE I32x16 load(const int32_t* p) { return BANTAM_REGISTERS(I32x16, wasm_v128_load(p + 4 * i)); }
BANTAM_INLINE void store(int32_t* p, I32x16 x) {
  BANTAM_UNROLL
  for (int i = 0; i < 4; ++i) wasm_v128_store(p + 4 * i, x.v[i]);
}
/// Uses a half's exponent and mantissa as a float's, which is 2^112 too small; scaling is exact, also for subnormal
/// halves. Results of at least 2^16 are infinities and NaN, which is made quiet.
BANTAM_INLINE v128_t load_four_f16(const uint16_t* p) {
  const v128_t half = wasm_u32x4_load16x4(p);
  const v128_t magnitude = wasm_i32x4_shl(wasm_v128_and(half, wasm_i32x4_splat(0x7fff)), 13);
  const v128_t scaled = wasm_f32x4_mul(magnitude, wasm_f32x4_splat(0x1p112f));
  const v128_t beyond = wasm_i32x4_ge(magnitude, wasm_i32x4_splat(0x0f800000));
  const v128_t is_nan = wasm_i32x4_gt(magnitude, wasm_i32x4_splat(0x0f800000));
  const v128_t special = wasm_v128_or(wasm_v128_and(beyond, wasm_i32x4_splat(0x7f800000)),
                                      wasm_v128_and(is_nan, wasm_i32x4_splat(0x00400000)));
  const v128_t sign = wasm_i32x4_shl(wasm_v128_and(half, wasm_i32x4_splat(0x8000)), 16);
  return wasm_v128_or(wasm_v128_or(scaled, special), sign);
}
BANTAM_INLINE F32x16 load_f16(const uint16_t* p) { return BANTAM_REGISTERS(F32x16, load_four_f16(p + 4 * i)); }
BANTAM_INLINE I32x16 load_i8(const int8_t* p) {
  const v128_t low = wasm_i16x8_load8x8(p);
  const v128_t high = wasm_i16x8_load8x8(p + 8);
  return {{wasm_i32x4_extend_low_i16x8(low), wasm_i32x4_extend_high_i16x8(low), wasm_i32x4_extend_low_i16x8(high),
           wasm_i32x4_extend_high_i16x8(high)}};
}
/// Keeps the low byte of each lane, so that saturating narrowing does not change it.
BANTAM_INLINE v128_t low_bytes(I32x16 x) {
  const v128_t byte = wasm_i32x4_splat(0xff);
  const auto narrow = [&](int i) __attribute__((always_inline)) {
    return wasm_i16x8_narrow_i32x4(wasm_v128_and(x.v[i], byte), wasm_v128_and(x.v[i + 1], byte));
  };
  return wasm_u8x16_narrow_i16x8(narrow(0), narrow(2));
}
BANTAM_INLINE void store_bytes(void* p, I32x16 x) { wasm_v128_store(p, low_bytes(x)); }

// ---- tables of 16: register b has byte b of each element, so that four swizzles look up 16 lanes
struct Table16 {
  v128_t v[4];
};
/// Four registers as rows of a square of bytes, 4 x 4 of 4 lanes: byte b of every lane moves to register b.
BANTAM_INLINE Table16 load_table(const float (&t)[16]) {
  const v128_t a = wasm_v128_load(t), b = wasm_v128_load(t + 4), c = wasm_v128_load(t + 8), d = wasm_v128_load(t + 12);
  const auto bytes = [](v128_t x) __attribute__((always_inline)) {
    return wasm_i8x16_shuffle(x, x, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  };
  const v128_t ab_low = wasm_i32x4_shuffle(bytes(a), bytes(b), 0, 4, 1, 5);
  const v128_t ab_high = wasm_i32x4_shuffle(bytes(a), bytes(b), 2, 6, 3, 7);
  const v128_t cd_low = wasm_i32x4_shuffle(bytes(c), bytes(d), 0, 4, 1, 5);
  const v128_t cd_high = wasm_i32x4_shuffle(bytes(c), bytes(d), 2, 6, 3, 7);
  return {{wasm_i64x2_shuffle(ab_low, cd_low, 0, 2), wasm_i64x2_shuffle(ab_low, cd_low, 1, 3),
           wasm_i64x2_shuffle(ab_high, cd_high, 0, 2), wasm_i64x2_shuffle(ab_high, cd_high, 1, 3)}};
}
BANTAM_INLINE F32x16 lookup(const Table16& t, I32x16 index) {
  const v128_t places = wasm_v128_and(low_bytes(index), wasm_i8x16_splat(15));
  v128_t found[4];
  BANTAM_UNROLL
  for (int b = 0; b < 4; ++b) {
#if defined(__wasm_relaxed_simd__)
    found[b] = wasm_i8x16_relaxed_swizzle(t.v[b], places);
#else
    found[b] = wasm_i8x16_swizzle(t.v[b], places);
#endif
  }
  const auto pairs_low = [](v128_t x, v128_t y) __attribute__((always_inline)) {
    return wasm_i8x16_shuffle(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  };
  const auto pairs_high = [](v128_t x, v128_t y) __attribute__((always_inline)) {
    return wasm_i8x16_shuffle(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  };
  const v128_t low[2] = {pairs_low(found[0], found[1]), pairs_low(found[2], found[3])};
  const v128_t high[2] = {pairs_high(found[0], found[1]), pairs_high(found[2], found[3])};
  return {{wasm_i16x8_shuffle(low[0], low[1], 0, 8, 1, 9, 2, 10, 3, 11),
           wasm_i16x8_shuffle(low[0], low[1], 4, 12, 5, 13, 6, 14, 7, 15),
           wasm_i16x8_shuffle(high[0], high[1], 0, 8, 1, 9, 2, 10, 3, 11),
           wasm_i16x8_shuffle(high[0], high[1], 4, 12, 5, 13, 6, 14, 7, 15)}};
}

// ---- construction
BANTAM_INLINE F32x16 splat(float x) {
  const v128_t v = wasm_f32x4_splat(x);
  return {{v, v, v, v}};
}
BANTAM_INLINE I32x16 splat(int32_t x) {
  const v128_t v = wasm_i32x4_splat(x);
  return {{v, v, v, v}};
}

// ---- fused multiply-add
#if defined(__wasm_relaxed_simd__) && !defined(BANTAM_WASM_OWN_FMA)
/// Fused or not, depending on the processor: the code that loads this module has tested that it is fused
/// (targets/wasm/web.cpp).
BANTAM_INLINE F32x16 fma(F32x16 x, F32x16 y, F32x16 z) {
  return BANTAM_REGISTERS(F32x16, wasm_f32x4_relaxed_madd(x.v[i], y.v[i], z.v[i]));
}
#else
/// Lane by lane, correctly rounded.
[[maybe_unused]] static BANTAM_NOINLINE v128_t fma_by_lane(v128_t x, v128_t y, v128_t z) {
  float a[4], b[4], c[4];
  wasm_v128_store(a, x);
  wasm_v128_store(b, y);
  wasm_v128_store(c, z);
  for (int i = 0; i < 4; ++i) a[i] = double_fma(a[i], b[i], c[i]);
  return wasm_v128_load(a);
}
/// Computes two lanes as doubles: the product is exact, the sum is rounded to 53 bits.
BANTAM_INLINE v128_t wide_fma(v128_t x, v128_t y, v128_t z) {
  return wasm_f64x2_add(wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(x), wasm_f64x2_promote_low_f32x4(y)),
                        wasm_f64x2_promote_low_f32x4(z));
}
/// A sum of 53 bits is rounded to the wrong float only if it seems to lie halfway between two floats, or if these have
/// fewer than 24 bits. A sum that rounds to zero is exact: if bits had been lost to an addend, the result would be
/// larger.
BANTAM_INLINE v128_t fma(v128_t x, v128_t y, v128_t z) {
  const auto high = [](v128_t v) __attribute__((always_inline)) { return wasm_i32x4_shuffle(v, v, 2, 3, 2, 3); };
  const v128_t first = wide_fma(x, y, z);
  const v128_t last = wide_fma(high(x), high(y), high(z));
  const v128_t sum =
      wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(first), wasm_f32x4_demote_f64x2_zero(last), 0, 1, 4, 5);
  const v128_t rest = wasm_i64x2_splat(0x1fffffff), half = wasm_i64x2_splat(0x10000000);
  const v128_t halfway =
      wasm_v128_or(wasm_i64x2_eq(wasm_v128_and(first, rest), half), wasm_i64x2_eq(wasm_v128_and(last, rest), half));
  // Tests for magnitudes from the smallest subnormal to 2^-126: those below a bound, after shifting so that the
  // smallest is the least integer.
  const v128_t shifted = wasm_i32x4_add(wasm_v128_and(sum, wasm_i32x4_splat(0x7fffffff)), wasm_i32x4_splat(0x7fffffff));
  const v128_t small = wasm_i32x4_lt(shifted, wasm_i32x4_splat(static_cast<int32_t>(0x80800000u)));
  if (__builtin_expect(wasm_v128_any_true(wasm_v128_or(halfway, small)), 0)) return fma_by_lane(x, y, z);
  return sum;
}
/// Not inlined: it would be a third of the module.
[[maybe_unused]] static BANTAM_NOINLINE F32x16 fma(F32x16 x, F32x16 y, F32x16 z) {
  return BANTAM_REGISTERS(F32x16, fma(x.v[i], y.v[i], z.v[i]));
}
#endif

// ---- lane-wise arithmetic
BANTAM_INLINE F32x16 operator+(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_add(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 operator-(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_sub(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 operator*(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_mul(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 operator/(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_div(x.v[i], y.v[i])); }
// pmin(y, x) is x < y ? x : y, pmax(y, x) is x > y ? x : y.
BANTAM_INLINE F32x16 min(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_pmin(y.v[i], x.v[i])); }
BANTAM_INLINE F32x16 max(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_pmax(y.v[i], x.v[i])); }
BANTAM_INLINE I32x16 max(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, wasm_i32x4_max(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 operator+(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, wasm_i32x4_add(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 operator*(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, wasm_i32x4_mul(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 join_bytes(I32x16 x, I32x16 y, I32x16 z, I32x16 w) {
  const v128_t byte = wasm_i32x4_splat(0xff);
  const auto at = [&](v128_t v, uint32_t shift) __attribute__((always_inline)) {
    return wasm_i32x4_shl(wasm_v128_and(v, byte), shift);
  };
  return BANTAM_REGISTERS(I32x16, wasm_v128_or(wasm_v128_or(at(x.v[i], 0), at(y.v[i], 8)),
                                               wasm_v128_or(at(z.v[i], 16), wasm_i32x4_shl(w.v[i], 24))));
}
BANTAM_INLINE I32x16 times_minus_128(I32x16 x) {
  return BANTAM_REGISTERS(I32x16, wasm_i32x4_neg(wasm_i32x4_shl(x.v[i], 7)));
}
BANTAM_INLINE I32x16 operator^(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, wasm_v128_xor(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 to_f32(I32x16 x) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_convert_i32x4(x.v[i])); }

BANTAM_INLINE I32x16 bits(F32x16 x) { return BANTAM_REGISTERS(I32x16, x.v[i]); }
BANTAM_INLINE F32x16 from_bits(I32x16 x) { return BANTAM_REGISTERS(F32x16, x.v[i]); }
BANTAM_INLINE F32x16 magnitude(F32x16 x) { return BANTAM_REGISTERS(F32x16, wasm_f32x4_abs(x.v[i])); }
BANTAM_INLINE I32x16 magnitude_bits(F32x16 x) { return bits(magnitude(x)); }
BANTAM_INLINE I32x16 round_to_i32(F32x16 x) {
  const v128_t magic = wasm_f32x4_splat(12582912.0f);
  return BANTAM_REGISTERS(I32x16, wasm_i32x4_sub(wasm_f32x4_add(x.v[i], magic), magic));
}
BANTAM_INLINE F32x16 low_bits_to_power(I32x16 x) { return BANTAM_REGISTERS(F32x16, wasm_i32x4_shl(x.v[i], 23)); }

// ---- across lanes: registers 0 and 2, 1 and 3; those two; halves; lanes
/// Folds four registers into one, in that order.
template <class Combine>
BANTAM_INLINE v128_t fold_registers(const v128_t (&v)[4], const Combine& combine) {
  return combine(combine(v[0], v[2]), combine(v[1], v[3]));
}
/// Folds four lanes into lane 0.
template <class Combine>
BANTAM_INLINE v128_t fold_lanes(v128_t v, const Combine& combine) {
  const v128_t two = combine(v, wasm_i32x4_shuffle(v, v, 2, 3, 2, 3));
  return combine(two, wasm_i32x4_shuffle(two, two, 1, 1, 1, 1));
}
struct AddFloats {
  BANTAM_INLINE v128_t operator()(v128_t x, v128_t y) const { return wasm_f32x4_add(x, y); }
};
struct AddIntegers {
  BANTAM_INLINE v128_t operator()(v128_t x, v128_t y) const { return wasm_i32x4_add(x, y); }
};
struct LargerFloats {
  BANTAM_INLINE v128_t operator()(v128_t x, v128_t y) const { return wasm_f32x4_pmax(x, y); }
};
struct LargerIntegers {
  BANTAM_INLINE v128_t operator()(v128_t x, v128_t y) const { return wasm_i32x4_max(x, y); }
};
BANTAM_INLINE float sum(F32x16 x) {
  return wasm_f32x4_extract_lane(fold_lanes(fold_registers(x.v, AddFloats{}), AddFloats{}), 0);
}
BANTAM_INLINE int32_t sum(I32x16 x) {
  return wasm_i32x4_extract_lane(fold_lanes(fold_registers(x.v, AddIntegers{}), AddIntegers{}), 0);
}
BANTAM_INLINE float largest(F32x16 x) {
  return wasm_f32x4_extract_lane(fold_lanes(fold_registers(x.v, LargerFloats{}), LargerFloats{}), 0);
}
BANTAM_INLINE int32_t largest(I32x16 x) {
  return wasm_i32x4_extract_lane(fold_lanes(fold_registers(x.v, LargerIntegers{}), LargerIntegers{}), 0);
}

// ---- across the lanes of eight vectors at once: lane i gets the reduction of v[i], i < 8; the others are undefined
constexpr bool kFoldsEight = true;

/// Folds four vectors: registers, then halves, then adjacent lanes, in the order of `sum`.
template <class Vector, class Combine>
BANTAM_INLINE v128_t fold_four(const Vector* x, const Combine& combine) {
  v128_t four[4];
  BANTAM_UNROLL
  for (int i = 0; i < 4; ++i) four[i] = fold_registers(x[i].v, combine);
  v128_t two[2];
  BANTAM_UNROLL
  for (int i = 0; i < 2; ++i) {
    two[i] = combine(wasm_i64x2_shuffle(four[2 * i], four[2 * i + 1], 0, 2),
                     wasm_i64x2_shuffle(four[2 * i], four[2 * i + 1], 1, 3));
  }
  return combine(wasm_i32x4_shuffle(two[0], two[1], 0, 2, 4, 6), wasm_i32x4_shuffle(two[0], two[1], 1, 3, 5, 7));
}
template <class Vector, class Combine>
BANTAM_INLINE Vector fold_eight(const Vector (&x)[8], const Combine& combine) {
  const v128_t low = fold_four(x, combine);
  const v128_t high = fold_four(x + 4, combine);
  return {{low, high, low, high}};
}
BANTAM_INLINE F32x16 sum_eight(const F32x16 (&x)[8]) { return fold_eight(x, AddFloats{}); }
BANTAM_INLINE I32x16 sum_eight(const I32x16 (&x)[8]) { return fold_eight(x, AddIntegers{}); }
BANTAM_INLINE F32x16 largest_of_eight(const F32x16 (&x)[8]) { return fold_eight(x, LargerFloats{}); }
BANTAM_INLINE I32x16 largest_of_eight(const I32x16 (&x)[8]) { return fold_eight(x, LargerIntegers{}); }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_WASM_VECTOR_H_
