// Integers in four aarch64 registers for the static kernels, in addition to neon/vector.h; generic/vector_ints.h
// defines each operation.
#ifndef BANTAM_KERNELS_NEON_INTS_H_
#define BANTAM_KERNELS_NEON_INTS_H_

#include "kernels/neon/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// The low halves of lanes of two registers.
BANTAM_INLINE int16x8_t low_words(int32x4_t x, int32x4_t y) {
  return vuzp1q_s16(vreinterpretq_s16_s32(x), vreinterpretq_s16_s32(y));
}
BANTAM_INLINE I32x16 load_words(const int16_t* p) { return BANTAM_REGISTERS(I32x16, vmovl_s16(vld1_s16(p + 4 * i))); }
BANTAM_INLINE void store_words(int16_t* p, I32x16 x) {
  vst1q_s16(p, low_words(x.v[0], x.v[1]));
  vst1q_s16(p + 8, low_words(x.v[2], x.v[3]));
}

BANTAM_INLINE I32x16 min(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, vminq_s32(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 min_unsigned(I32x16 x, I32x16 y) {
  return BANTAM_REGISTERS(
      I32x16, vreinterpretq_s32_u32(vminq_u32(vreinterpretq_u32_s32(x.v[i]), vreinterpretq_u32_s32(y.v[i]))));
}
BANTAM_INLINE I32x16 operator-(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, vsubq_s32(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 operator&(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, vandq_s32(x.v[i], y.v[i])); }

struct Factors {
  int16x8_t v[2];
};
BANTAM_INLINE Factors load_factors(const int16_t* p) { return {{vld1q_s16(p), vld1q_s16(p + 8)}}; }
BANTAM_INLINE Factors splat_factor(int32_t x) {
  const int16x8_t v = vdupq_n_s16(static_cast<int16_t>(x));
  return {{v, v}};
}
BANTAM_INLINE Factors as_factors(I32x16 x) { return {{low_words(x.v[0], x.v[1]), low_words(x.v[2], x.v[3])}}; }
BANTAM_INLINE I32x16 multiply_add(I32x16 x, Factors y, I32x16 z) {
  const int16x8_t low = low_words(x.v[0], x.v[1]);
  const int16x8_t high = low_words(x.v[2], x.v[3]);
  return {{vmlal_s16(z.v[0], vget_low_s16(low), vget_low_s16(y.v[0])), vmlal_high_s16(z.v[1], low, y.v[0]),
           vmlal_s16(z.v[2], vget_low_s16(high), vget_low_s16(y.v[1])), vmlal_high_s16(z.v[3], high, y.v[1])}};
}

struct ShiftCount {
  int32x4_t left;
};
BANTAM_INLINE ShiftCount shift_count(uint32_t n) { return {vdupq_n_s32(-static_cast<int32_t>(n))}; }
BANTAM_INLINE I32x16 shift_right(I32x16 x, ShiftCount n) { return BANTAM_REGISTERS(I32x16, vshlq_s32(x.v[i], n.left)); }
template <uint32_t kBits>
BANTAM_INLINE I32x16 shift_right_logical(I32x16 x) {
  return BANTAM_REGISTERS(I32x16, vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(x.v[i]), kBits)));
}
BANTAM_INLINE I32x16 shift_left_each(I32x16 x, I32x16 n) { return BANTAM_REGISTERS(I32x16, vshlq_s32(x.v[i], n.v[i])); }
BANTAM_INLINE I32x16 shift_right_each(I32x16 x, I32x16 n) {
  return BANTAM_REGISTERS(I32x16, vshlq_s32(x.v[i], vnegq_s32(n.v[i])));
}

struct FourBytes {
  int8x16_t v[4];
};
BANTAM_INLINE int16x8_t saturate_words(int32x4_t x, int32x4_t y) { return vqmovn_high_s32(vqmovn_s32(x), y); }
BANTAM_INLINE int8x16_t saturate_bytes(I32x16 x) {
  return vqmovn_high_s16(vqmovn_s16(saturate_words(x.v[0], x.v[1])), saturate_words(x.v[2], x.v[3]));
}
BANTAM_INLINE FourBytes saturate_bytes(const I32x16 (&x)[4]) {
  return BANTAM_REGISTERS(FourBytes, saturate_bytes(x[i]));
}
/// 32767 may replace 2^15.
BANTAM_INLINE int8x16_t times_255(I32x16 x) {
  const int16x8_t low = vqrdmulhq_n_s16(saturate_words(x.v[0], x.v[1]), 255);
  const int16x8_t high = vqrdmulhq_n_s16(saturate_words(x.v[2], x.v[3]), 255);
  return vreinterpretq_s8_u8(vqmovun_high_s16(vqmovun_s16(low), high));
}
BANTAM_INLINE FourBytes times_255(const I32x16 (&x)[4]) { return BANTAM_REGISTERS(FourBytes, times_255(x[i])); }
BANTAM_INLINE int32x4_t add_bytes(int32x4_t total, int8x16_t x) {
  const uint8x16_t bytes = vreinterpretq_u8_s8(x);
#if defined(__ARM_FEATURE_DOTPROD)
  return vreinterpretq_s32_u32(vdotq_u32(vreinterpretq_u32_s32(total), bytes, vdupq_n_u8(1)));
#else
  return vreinterpretq_s32_u32(vpadalq_u16(vreinterpretq_u32_s32(total), vpaddlq_u8(bytes)));
#endif
}
BANTAM_INLINE I32x16 add_bytes(I32x16 total, FourBytes x) {
  return BANTAM_REGISTERS(I32x16, add_bytes(total.v[i], x.v[i]));
}
BANTAM_INLINE FourBytes max(FourBytes x, int8_t y) {
  return BANTAM_REGISTERS(FourBytes, vmaxq_s8(x.v[i], vdupq_n_s8(y)));
}
BANTAM_INLINE FourBytes operator^(FourBytes x, int8_t y) {
  return BANTAM_REGISTERS(FourBytes, veorq_s8(x.v[i], vdupq_n_s8(y)));
}
BANTAM_INLINE void store_four(int8_t* const (&to)[4], FourBytes x) {
  BANTAM_UNROLL
  for (int i = 0; i < 4; ++i) vst1q_s8(to[i], x.v[i]);
}
BANTAM_INLINE void store_four(int8_t* to, FourBytes x) { store_four({to, to + 16, to + 32, to + 48}, x); }

struct ByteTable {
  int8x16x4_t v[4];
};
BANTAM_INLINE ByteTable load_byte_table(const int8_t* p) {
  const auto part = [](const int8_t* q) __attribute__((always_inline)) {
    return int8x16x4_t{{vld1q_s8(q), vld1q_s8(q + 16), vld1q_s8(q + 32), vld1q_s8(q + 48)}};
  };
  return {{part(p), part(p + 64), part(p + 128), part(p + 192)}};
}
/// An index beyond a part leaves the byte unchanged.
BANTAM_INLINE FourBytes lookup(const ByteTable& t, FourBytes x) {
  const auto of = [&](int8x16_t bytes) __attribute__((always_inline)) {
    const uint8x16_t index = veorq_u8(vreinterpretq_u8_s8(bytes), vdupq_n_u8(128));
    int8x16_t found = vqtbl4q_s8(t.v[0], index);
    BANTAM_UNROLL
    for (int part = 1; part < 4; ++part) {
      found = vqtbx4q_s8(found, t.v[part], vsubq_u8(index, vdupq_n_u8(static_cast<uint8_t>(64 * part))));
    }
    return found;
  };
  return BANTAM_REGISTERS(FourBytes, of(x.v[i]));
}
#undef BANTAM_REGISTERS

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The static kernels' numbers, after these definitions.
#include "kernels/generic/vector_ints.h"

#endif  // BANTAM_KERNELS_NEON_INTS_H_
