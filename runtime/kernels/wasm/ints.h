// Integers in four WebAssembly registers for the static kernels, in addition to wasm/vector.h; generic/vector_ints.h
// defines each operation.
#ifndef BANTAM_KERNELS_WASM_INTS_H_
#define BANTAM_KERNELS_WASM_INTS_H_

#include "kernels/wasm/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

BANTAM_INLINE v128_t saturate_words(v128_t x, v128_t y) { return wasm_i16x8_narrow_i32x4(x, y); }
BANTAM_INLINE I32x16 load_words(const int16_t* p) { return BANTAM_REGISTERS(I32x16, wasm_i32x4_load16x4(p + 4 * i)); }
/// Also saturates.
BANTAM_INLINE void store_words(int16_t* p, I32x16 x) {
  wasm_v128_store(p, saturate_words(x.v[0], x.v[1]));
  wasm_v128_store(p + 8, saturate_words(x.v[2], x.v[3]));
}

BANTAM_INLINE I32x16 min(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, wasm_i32x4_min(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 min_unsigned(I32x16 x, I32x16 y) {
  return BANTAM_REGISTERS(I32x16, wasm_u32x4_min(x.v[i], y.v[i]));
}
BANTAM_INLINE I32x16 operator-(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, wasm_i32x4_sub(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 operator&(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, wasm_v128_and(x.v[i], y.v[i])); }

struct Factors {
  v128_t v[4];  // in the lower half of each lane, the upper half 0
};
BANTAM_INLINE Factors load_factors(const int16_t* p) {
  return BANTAM_REGISTERS(Factors, wasm_u32x4_load16x4(p + 4 * i));
}
BANTAM_INLINE Factors splat_factor(int32_t x) {
  const v128_t v = wasm_i32x4_splat(x & 0xffff);
  return {{v, v, v, v}};
}
BANTAM_INLINE Factors as_factors(I32x16 x) { return {{x.v[0], x.v[1], x.v[2], x.v[3]}}; }
BANTAM_INLINE I32x16 multiply_add(I32x16 x, Factors y, I32x16 z) {
  return BANTAM_REGISTERS(I32x16, wasm_i32x4_add(z.v[i], wasm_i32x4_dot_i16x8(x.v[i], y.v[i])));
}

struct ShiftCount {
  uint32_t n;
};
BANTAM_INLINE ShiftCount shift_count(uint32_t n) { return {n}; }
BANTAM_INLINE I32x16 shift_right(I32x16 x, ShiftCount n) {
  return BANTAM_REGISTERS(I32x16, wasm_i32x4_shr(x.v[i], n.n));
}
template <uint32_t kBits>
BANTAM_INLINE I32x16 shift_right_logical(I32x16 x) {
  return BANTAM_REGISTERS(I32x16, wasm_u32x4_shr(x.v[i], kBits));
}
/// No instruction shifts lanes by different counts. Not inlined: a loop over lanes in its place would not be shorter.
template <class Shift>
BANTAM_NOINLINE I32x16 shift_each(I32x16 x, I32x16 n, const Shift& shift) {
  uint32_t lanes[16], counts[16];
  memcpy(lanes, &x, sizeof(lanes));
  memcpy(counts, &n, sizeof(counts));
  for (uint32_t i = 0; i < 16; ++i) lanes[i] = shift(lanes[i], counts[i]);
  memcpy(&x, lanes, sizeof(lanes));
  return x;
}
BANTAM_INLINE I32x16 shift_left_each(I32x16 x, I32x16 n) {
  return shift_each(x, n, [](uint32_t lane, uint32_t count) { return lane << count; });
}
BANTAM_INLINE I32x16 shift_right_each(I32x16 x, I32x16 n) {
  return shift_each(x, n, [](uint32_t lane, uint32_t count) { return lane >> count; });
}

struct FourBytes {
  v128_t v[4];
};
BANTAM_INLINE v128_t saturate_bytes(I32x16 x) {
  return wasm_i8x16_narrow_i16x8(saturate_words(x.v[0], x.v[1]), saturate_words(x.v[2], x.v[3]));
}
BANTAM_INLINE FourBytes saturate_bytes(const I32x16 (&x)[4]) {
  return BANTAM_REGISTERS(FourBytes, saturate_bytes(x[i]));
}
/// 32767 may replace 2^15.
BANTAM_INLINE v128_t times_255(I32x16 x) {
  const v128_t by = wasm_i16x8_splat(255);
  return wasm_u8x16_narrow_i16x8(wasm_i16x8_q15mulr_sat(saturate_words(x.v[0], x.v[1]), by),
                                 wasm_i16x8_q15mulr_sat(saturate_words(x.v[2], x.v[3]), by));
}
BANTAM_INLINE FourBytes times_255(const I32x16 (&x)[4]) { return BANTAM_REGISTERS(FourBytes, times_255(x[i])); }
BANTAM_INLINE I32x16 add_bytes(I32x16 total, FourBytes x) {
  return BANTAM_REGISTERS(
      I32x16, wasm_i32x4_add(total.v[i], wasm_u32x4_extadd_pairwise_u16x8(wasm_u16x8_extadd_pairwise_u8x16(x.v[i]))));
}
BANTAM_INLINE FourBytes max(FourBytes x, int8_t y) {
  return BANTAM_REGISTERS(FourBytes, wasm_i8x16_max(x.v[i], wasm_i8x16_splat(y)));
}
BANTAM_INLINE FourBytes operator^(FourBytes x, int8_t y) {
  return BANTAM_REGISTERS(FourBytes, wasm_v128_xor(x.v[i], wasm_i8x16_splat(y)));
}
BANTAM_INLINE void store_four(int8_t* const (&to)[4], FourBytes x) {
  BANTAM_UNROLL
  for (int i = 0; i < 4; ++i) wasm_v128_store(to[i], x.v[i]);
}
BANTAM_INLINE void store_four(int8_t* to, FourBytes x) { store_four({to, to + 16, to + 32, to + 48}, x); }

struct ByteTable {
  const int8_t* v;
};
BANTAM_INLINE ByteTable load_byte_table(const int8_t* p) { return {p}; }
/// Looks up the sixteen parts of the table one after the other: a part yields 0 if the index belongs to another part.
BANTAM_INLINE FourBytes lookup(const ByteTable& t, FourBytes x) {
  const FourBytes index = x ^ int8_t { -128 };
  const v128_t none = wasm_i8x16_splat(0);
  FourBytes found = {{none, none, none, none}};
  for (uint32_t part = 0; part < 16; ++part) {
    const v128_t bytes = wasm_v128_load(t.v + part * 16);
    const FourBytes of_part = index ^ static_cast<int8_t>(part * 16);
    BANTAM_UNROLL
    for (int i = 0; i < 4; ++i) found.v[i] = wasm_v128_or(found.v[i], wasm_i8x16_swizzle(bytes, of_part.v[i]));
  }
  return found;
}
#undef BANTAM_REGISTERS

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The static kernels' numbers, after these definitions.
#include "kernels/generic/vector_ints.h"

#endif  // BANTAM_KERNELS_WASM_INTS_H_
