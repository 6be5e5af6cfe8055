// The 16-lane vector types as four 128-bit aarch64 registers: for all tables of aarch64. kernels/reference/vector.h
// defines each operation.
#ifndef BANTAM_KERNELS_NEON_VECTOR_H_
#define BANTAM_KERNELS_NEON_VECTOR_H_

#include <arm_neon.h>

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

struct F32x16 {
  float32x4_t v[4];
};
struct I32x16 {
  int32x4_t v[4];
};
/// All bits of a lane are set if it is on.
struct Mask16 {
  uint32x4_t v[4];
};

/// Returns f(i) for each of the four registers. neon/ints.h undefines the macro at its end.
template <class Vector, class F>
BANTAM_INLINE Vector by_register(const F& f) {
  return {{f(0), f(1), f(2), f(3)}};
}
#define BANTAM_REGISTERS(Vector, expression) \
  by_register<Vector>([&](int i) __attribute__((always_inline)) { return expression; })

// ---- masks
BANTAM_INLINE Mask16 less(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(Mask16, vcltq_f32(x.v[i], y.v[i])); }
BANTAM_INLINE Mask16 lanes_between(int32_t begin, int32_t end) {
  static constexpr int32_t kFirst[4] = {0, 1, 2, 3};
  const int32x4_t first = vld1q_s32(kFirst);
  const auto lanes = [&](int i) __attribute__((always_inline)) { return vaddq_s32(first, vdupq_n_s32(4 * i)); };
  return BANTAM_REGISTERS(Mask16,
                          vandq_u32(vcgeq_s32(lanes(i), vdupq_n_s32(begin)), vcltq_s32(lanes(i), vdupq_n_s32(end))));
}
BANTAM_INLINE F32x16 select(Mask16 m, F32x16 on, F32x16 off) {
  return BANTAM_REGISTERS(F32x16, vbslq_f32(m.v[i], on.v[i], off.v[i]));
}
BANTAM_INLINE F32x16 keep(Mask16 m, F32x16 x) {
  return BANTAM_REGISTERS(F32x16, vreinterpretq_f32_u32(vandq_u32(m.v[i], vreinterpretq_u32_f32(x.v[i]))));
}

// ---- memory
BANTAM_INLINE F32x16 load(const float* p) { return BANTAM_REGISTERS(F32x16, vld1q_f32(p + 4 * i)); }
BANTAM_INLINE F32x16 load_first(const float* p, uint32_t n) {
  float buffer[16] = {};
  memcpy(buffer, p, n * sizeof(float));
  return load(buffer);
}
BANTAM_INLINE void store(float* p, F32x16 x) {
  for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, x.v[i]);
}
BANTAM_INLINE void store_first(float* p, F32x16 x, uint32_t n) {
  float buffer[16];
  store(buffer, x);
  memcpy(p, buffer, n * sizeof(float));
}
BANTAM_INLINE I32x16 load(const int32_t* p) { return BANTAM_REGISTERS(I32x16, vld1q_s32(p + 4 * i)); }
BANTAM_INLINE void store(int32_t* p, I32x16 x) {
  for (int i = 0; i < 4; ++i) vst1q_s32(p + 4 * i, x.v[i]);
}
BANTAM_INLINE F32x16 load_f16(const uint16_t* p) {
  return BANTAM_REGISTERS(F32x16, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p + 4 * i))));
}
BANTAM_INLINE I32x16 load_i8(const int8_t* p) {
  const int8x16_t x = vld1q_s8(p);
  const int16x8_t low = vmovl_s8(vget_low_s8(x));
  const int16x8_t high = vmovl_high_s8(x);
  return {{vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)), vmovl_high_s16(high)}};
}
BANTAM_INLINE void store_bytes(void* p, I32x16 x) {
  const uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_s32(x.v[0]), vreinterpretq_u16_s32(x.v[1]));
  const uint16x8_t high = vuzp1q_u16(vreinterpretq_u16_s32(x.v[2]), vreinterpretq_u16_s32(x.v[3]));
  vst1q_u8(static_cast<uint8_t*>(p), vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)));
}

// ---- tables of 16: looked up byte by byte
struct Table16 {
  uint8x16x4_t v;
};
BANTAM_INLINE Table16 load_table(const float (&t)[16]) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(t);
  return {{{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}}};
}
BANTAM_INLINE float32x4_t lookup(const Table16& t, int32x4_t index) {
  const uint32x4_t low = vandq_u32(vreinterpretq_u32_s32(index), vdupq_n_u32(15));
  // The four bytes of element n begin at 4 n.
  const uint32x4_t bytes = vmlaq_u32(vdupq_n_u32(0x03020100), low, vdupq_n_u32(0x04040404));
  return vreinterpretq_f32_u8(vqtbl4q_u8(t.v, vreinterpretq_u8_u32(bytes)));
}
BANTAM_INLINE F32x16 lookup(const Table16& t, I32x16 index) { return BANTAM_REGISTERS(F32x16, lookup(t, index.v[i])); }

// ---- construction
BANTAM_INLINE F32x16 splat(float x) {
  const float32x4_t v = vdupq_n_f32(x);
  return {{v, v, v, v}};
}
BANTAM_INLINE I32x16 splat(int32_t x) {
  const int32x4_t v = vdupq_n_s32(x);
  return {{v, v, v, v}};
}

// ---- lane-wise arithmetic
BANTAM_INLINE F32x16 operator+(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, vaddq_f32(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 operator-(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, vsubq_f32(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 operator*(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, vmulq_f32(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 operator/(F32x16 x, F32x16 y) { return BANTAM_REGISTERS(F32x16, vdivq_f32(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 fma(F32x16 x, F32x16 y, F32x16 z) {
  return BANTAM_REGISTERS(F32x16, vfmaq_f32(z.v[i], x.v[i], y.v[i]));
}
// Not fmin and fmax, which propagate a NaN in x and order the zeros.
BANTAM_INLINE F32x16 min(F32x16 x, F32x16 y) { return select(less(x, y), x, y); }
BANTAM_INLINE F32x16 max(F32x16 x, F32x16 y) { return select(less(y, x), x, y); }
BANTAM_INLINE I32x16 max(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, vmaxq_s32(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 operator+(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, vaddq_s32(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 operator*(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, vmulq_s32(x.v[i], y.v[i])); }
BANTAM_INLINE I32x16 join_bytes(I32x16 x, I32x16 y, I32x16 z, I32x16 w) {
  return BANTAM_REGISTERS(I32x16, vsliq_n_s32(vsliq_n_s32(vsliq_n_s32(x.v[i], y.v[i], 8), z.v[i], 16), w.v[i], 24));
}
BANTAM_INLINE I32x16 times_minus_128(I32x16 x) { return BANTAM_REGISTERS(I32x16, vnegq_s32(vshlq_n_s32(x.v[i], 7))); }
BANTAM_INLINE I32x16 operator^(I32x16 x, I32x16 y) { return BANTAM_REGISTERS(I32x16, veorq_s32(x.v[i], y.v[i])); }
BANTAM_INLINE F32x16 to_f32(I32x16 x) { return BANTAM_REGISTERS(F32x16, vcvtq_f32_s32(x.v[i])); }

BANTAM_INLINE I32x16 bits(F32x16 x) { return BANTAM_REGISTERS(I32x16, vreinterpretq_s32_f32(x.v[i])); }
BANTAM_INLINE F32x16 from_bits(I32x16 x) { return BANTAM_REGISTERS(F32x16, vreinterpretq_f32_s32(x.v[i])); }
BANTAM_INLINE F32x16 magnitude(F32x16 x) { return BANTAM_REGISTERS(F32x16, vabsq_f32(x.v[i])); }
BANTAM_INLINE I32x16 magnitude_bits(F32x16 x) { return bits(magnitude(x)); }
BANTAM_INLINE I32x16 round_to_i32(F32x16 x) { return BANTAM_REGISTERS(I32x16, vcvtnq_s32_f32(x.v[i])); }
BANTAM_INLINE F32x16 low_bits_to_power(I32x16 x) {
  return BANTAM_REGISTERS(F32x16, vreinterpretq_f32_s32(vshlq_n_s32(x.v[i], 23)));
}

// ---- across lanes: registers 0 and 2, 1 and 3; those two; halves; lanes
BANTAM_INLINE float sum(F32x16 x) {
  const float32x4_t four = vaddq_f32(vaddq_f32(x.v[0], x.v[2]), vaddq_f32(x.v[1], x.v[3]));
  return vpadds_f32(vadd_f32(vget_low_f32(four), vget_high_f32(four)));
}
BANTAM_INLINE int32_t sum(I32x16 x) {
  return vaddvq_s32(vaddq_s32(vaddq_s32(x.v[0], x.v[2]), vaddq_s32(x.v[1], x.v[3])));
}
BANTAM_INLINE float largest(F32x16 x) {
  return vmaxvq_f32(vmaxq_f32(vmaxq_f32(x.v[0], x.v[2]), vmaxq_f32(x.v[1], x.v[3])));
}
BANTAM_INLINE int32_t largest(I32x16 x) {
  return vmaxvq_s32(vmaxq_s32(vmaxq_s32(x.v[0], x.v[2]), vmaxq_s32(x.v[1], x.v[3])));
}

// ---- across the lanes of eight vectors at once: lane i gets the reduction of v[i], i < 8; the others are undefined
constexpr bool kFoldsEight = true;

/// Folds four vectors: registers, then halves, then adjacent lanes, in the order of `sum`.
template <class Combine, class Neighbours>
BANTAM_INLINE float32x4_t fold_four(const F32x16* x, const Combine& combine, const Neighbours& neighbours) {
  float64x2_t four[4];
  BANTAM_UNROLL
  for (int i = 0; i < 4; ++i) {
    four[i] = vreinterpretq_f64_f32(combine(combine(x[i].v[0], x[i].v[2]), combine(x[i].v[1], x[i].v[3])));
  }
  float32x4_t two[2];
  BANTAM_UNROLL
  for (int i = 0; i < 2; ++i) {
    two[i] = combine(vreinterpretq_f32_f64(vzip1q_f64(four[2 * i], four[2 * i + 1])),
                     vreinterpretq_f32_f64(vzip2q_f64(four[2 * i], four[2 * i + 1])));
  }
  return neighbours(two[0], two[1]);
}
template <class Combine, class Neighbours>
BANTAM_INLINE F32x16 fold_eight(const F32x16 (&x)[8], const Combine& combine, const Neighbours& neighbours) {
  const float32x4_t low = fold_four(x, combine, neighbours);
  const float32x4_t high = fold_four(x + 4, combine, neighbours);
  return {{low, high, low, high}};
}
BANTAM_INLINE F32x16 sum_eight(const F32x16 (&x)[8]) {
  return fold_eight(
      x, [](float32x4_t a, float32x4_t b) __attribute__((always_inline)) { return vaddq_f32(a, b); },
      [](float32x4_t a, float32x4_t b) __attribute__((always_inline)) { return vpaddq_f32(a, b); });
}
BANTAM_INLINE F32x16 largest_of_eight(const F32x16 (&x)[8]) {
  return fold_eight(
      x, [](float32x4_t a, float32x4_t b) __attribute__((always_inline)) { return vmaxq_f32(a, b); },
      [](float32x4_t a, float32x4_t b) __attribute__((always_inline)) { return vpmaxq_f32(a, b); });
}
template <class Combine, class Neighbours>
BANTAM_INLINE I32x16 fold_eight(const I32x16 (&x)[8], const Combine& combine, const Neighbours& neighbours) {
  F32x16 v[8];
  BANTAM_UNROLL
  for (int i = 0; i < 8; ++i) v[i] = from_bits(x[i]);
  const auto on_bits = [](const auto& of) __attribute__((always_inline)) {
    return [&of](float32x4_t a, float32x4_t b) __attribute__((always_inline)) {
      return vreinterpretq_f32_s32(of(vreinterpretq_s32_f32(a), vreinterpretq_s32_f32(b)));
    };
  };
  return bits(fold_eight(v, on_bits(combine), on_bits(neighbours)));
}
BANTAM_INLINE I32x16 sum_eight(const I32x16 (&x)[8]) {
  return fold_eight(
      x, [](int32x4_t a, int32x4_t b) __attribute__((always_inline)) { return vaddq_s32(a, b); },
      [](int32x4_t a, int32x4_t b) __attribute__((always_inline)) { return vpaddq_s32(a, b); });
}
BANTAM_INLINE I32x16 largest_of_eight(const I32x16 (&x)[8]) {
  return fold_eight(
      x, [](int32x4_t a, int32x4_t b) __attribute__((always_inline)) { return vmaxq_s32(a, b); },
      [](int32x4_t a, int32x4_t b) __attribute__((always_inline)) { return vpmaxq_s32(a, b); });
}

/// Sets the sums of a register block to 0.
template <uint32_t kRows, uint32_t kPanels, uint32_t kEach>
BANTAM_INLINE void clear_sums(int32x4_t (&sums)[kRows][kPanels][kEach]) {
  BANTAM_UNROLL
  for (uint32_t r = 0; r < kRows; ++r) {
    BANTAM_UNROLL
    for (uint32_t p = 0; p < kPanels; ++p) {
      BANTAM_UNROLL
      for (uint32_t i = 0; i < kEach; ++i) sums[r][p][i] = vdupq_n_s32(0);
    }
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_NEON_VECTOR_H_
