// The 16-lane vector types as plain arrays: the definition of every operation that the other instruction sets
// implement with intrinsics. What each operation means is documented here once.
#ifndef BANTAM_KERNELS_REFERENCE_VECTOR_H_
#define BANTAM_KERNELS_REFERENCE_VECTOR_H_

#include "kernels/generic/soft_float.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

struct F32x16 {
  float v[16];
};
struct I32x16 {
  int32_t v[16];
};
/// Lanes i of which bit i is set are "on".
struct Mask16 {
  uint32_t bits;
};

// ---- memory. `first` variants touch the first n elements only, 0 <= n <= 16, and read the others as +0.
inline F32x16 load(const float* p) {
  F32x16 r;
  memcpy(r.v, p, sizeof r.v);
  return r;
}
inline F32x16 load_first(const float* p, uint32_t n) {
  F32x16 r{};
  for (uint32_t i = 0; i < n; ++i) r.v[i] = p[i];
  return r;
}
inline void store(float* p, const F32x16& a) { memcpy(p, a.v, sizeof a.v); }
inline void store_first(float* p, const F32x16& a, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) p[i] = a.v[i];
}
inline I32x16 load(const int32_t* p) {
  I32x16 r;
  memcpy(r.v, p, sizeof r.v);
  return r;
}
inline void store(int32_t* p, const I32x16& a) { memcpy(p, a.v, sizeof a.v); }
inline F32x16 load_f16(const uint16_t* p) {
  F32x16 r;
  for (int i = 0; i < 16; ++i) r.v[i] = soft_f16(p[i]);
  return r;
}
/// Sixteen signed bytes.
inline I32x16 load_i8(const int8_t* p) {
  I32x16 r;
  for (int i = 0; i < 16; ++i) r.v[i] = int32_t{p[i]};  // NOLINT(bugprone-signed-char-misuse): numbers, not characters
  return r;
}
/// The low byte of each lane.
inline void store_bytes(void* p, const I32x16& a) {
  uint8_t bytes[16];
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<uint8_t>(a.v[i] & 0xff);
  memcpy(p, bytes, sizeof bytes);
}

// ---- tables of 16
struct Table16 {
  const float* v;
};
inline Table16 load_table(const float (&t)[16]) { return {t}; }
/// Lane i takes the element that the low four bits of index lane i name.
inline F32x16 lookup(Table16 t, const I32x16& index) {
  F32x16 r;
  for (int i = 0; i < 16; ++i) r.v[i] = t.v[index.v[i] & 15];
  return r;
}

// ---- construction
inline F32x16 splat(float a) {
  F32x16 r;
  for (float& lane : r.v) lane = a;
  return r;
}
inline I32x16 splat(int32_t a) {
  I32x16 r;
  for (int32_t& lane : r.v) lane = a;
  return r;
}

// ---- lane-wise arithmetic
#define BANTAM_LANES(Type, expression)                  \
  {                                                     \
    Type r;                                             \
    for (int i = 0; i < 16; ++i) r.v[i] = (expression); \
    return r;                                           \
  }
inline F32x16 operator+(const F32x16& a, const F32x16& b) BANTAM_LANES(F32x16, a.v[i] + b.v[i]) inline F32x16 operator-(
    const F32x16& a, const F32x16& b) BANTAM_LANES(F32x16, a.v[i] - b.v[i]) inline F32x16
operator*(const F32x16& a, const F32x16& b) BANTAM_LANES(F32x16, a.v[i] * b.v[i]) inline F32x16
operator/(const F32x16& a, const F32x16& b) BANTAM_LANES(F32x16, a.v[i] / b.v[i])
    /// a * b + c, rounded once.
    inline F32x16 fma(const F32x16& a, const F32x16& b, const F32x16& c)
        BANTAM_LANES(F32x16, soft_fma(a.v[i], b.v[i], c.v[i]))
    /// a < b ? a : b, so that a NaN in b stays.
    inline F32x16 min(const F32x16& a, const F32x16& b) BANTAM_LANES(F32x16, a.v[i] < b.v[i] ? a.v[i] : b.v[i])
    /// a > b ? a : b, so that a NaN in b stays.
    inline F32x16 max(const F32x16& a, const F32x16& b)
        BANTAM_LANES(F32x16, a.v[i] > b.v[i] ? a.v[i] : b.v[i]) inline I32x16 max(const I32x16& a, const I32x16& b)
            BANTAM_LANES(I32x16, a.v[i] > b.v[i] ? a.v[i] : b.v[i]) inline I32x16
            operator+(const I32x16& a, const I32x16& b) BANTAM_LANES(I32x16, a.v[i] + b.v[i])
    /// The low bytes of a, b, c, d as the bytes of each lane, a lowest.
    inline I32x16 join_bytes(const I32x16& a, const I32x16& b, const I32x16& c, const I32x16& d) {
  I32x16 r;
  for (int i = 0; i < 16; ++i) {
    const auto byte = [i](const I32x16& x) { return static_cast<uint32_t>(x.v[i]) & 0xffu; };
    r.v[i] = static_cast<int32_t>(byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24);
  }
  return r;
}
/// a * -128.
inline I32x16 times_minus_128(const I32x16& a) BANTAM_LANES(I32x16, a.v[i] * -128) inline I32x16 operator^(
    const I32x16& a, const I32x16& b) BANTAM_LANES(I32x16, a.v[i] ^ b.v[i]) inline F32x16 to_f32(const I32x16& a)
    BANTAM_LANES(F32x16, static_cast<float>(a.v[i]))
#undef BANTAM_LANES

        inline I32x16 bits(const F32x16& a) {
  I32x16 r;
  memcpy(r.v, a.v, sizeof r.v);
  return r;
}
inline F32x16 from_bits(const I32x16& a) {
  F32x16 r;
  memcpy(r.v, a.v, sizeof r.v);
  return r;
}
/// The bits without the sign: as integers they order like |a|, with infinity and NaN on top.
inline I32x16 magnitude_bits(const F32x16& a) {
  I32x16 r = bits(a);
  for (int32_t& lane : r.v) lane &= 0x7fffffff;
  return r;
}
inline F32x16 magnitude(const F32x16& a) {
  const I32x16 m = magnitude_bits(a);
  F32x16 r;
  memcpy(r.v, m.v, sizeof r.v);
  return r;
}
/// To nearest even, for |a| <= 2^22: adding 1.5 * 2^23 leaves the integer in the low bits.
inline I32x16 round_to_i32(const F32x16& a) {
  const float magic = 12582912.0f;
  F32x16 shifted;
  for (int i = 0; i < 16; ++i) shifted.v[i] = a.v[i] + magic;
  I32x16 r = bits(shifted);
  for (int32_t& lane : r.v) lane = static_cast<int32_t>(static_cast<uint32_t>(lane) - 0x4b400000u);
  return r;
}
/// The float whose bits are a << 23: the scaling by a power of two in exp.
inline F32x16 low_bits_to_power(const I32x16& a) {
  I32x16 r = a;
  for (int32_t& lane : r.v) lane = static_cast<int32_t>(static_cast<uint32_t>(lane) << 23);
  F32x16 f;
  memcpy(f.v, r.v, sizeof f.v);
  return f;
}

// ---- masks
inline Mask16 less(const F32x16& a, const F32x16& b) {
  Mask16 m{0};
  for (uint32_t i = 0; i < 16; ++i) m.bits |= (a.v[i] < b.v[i] ? 1u : 0u) << i;
  return m;
}
/// Lanes [begin, end); bounds outside [0, 16] count as the nearest of the two.
inline Mask16 lanes_between(int32_t begin, int32_t end) {
  Mask16 m{0};
  for (int32_t i = 0; i < 16; ++i) m.bits |= (i >= begin && i < end ? 1u : 0u) << i;
  return m;
}
inline F32x16 select(Mask16 m, const F32x16& on, const F32x16& off) {
  F32x16 r;
  for (uint32_t i = 0; i < 16; ++i) r.v[i] = ((m.bits >> i) & 1) != 0 ? on.v[i] : off.v[i];
  return r;
}
/// Lanes that are off become +0.
inline F32x16 keep(Mask16 m, const F32x16& a) { return select(m, a, splat(0.0f)); }

// ---- across lanes
/// The fixed tree: lanes l and l + 8, then l and l + 4, l + 2, l + 1.
inline float sum(const F32x16& a) {
  float t[8];
  for (int i = 0; i < 8; ++i) t[i] = a.v[i] + a.v[i + 8];
  for (int i = 0; i < 4; ++i) t[i] = t[i] + t[i + 4];
  for (int i = 0; i < 2; ++i) t[i] = t[i] + t[i + 2];
  return t[0] + t[1];
}
inline int32_t sum(const I32x16& a) {
  int32_t t = 0;
  for (int32_t lane : a.v) t += lane;
  return t;
}
/// The largest lane; which of +0 and -0 is not said.
inline float largest(const F32x16& a) {
  float m = a.v[0];
  for (float lane : a.v) m = m > lane ? m : lane;
  return m;
}
inline int32_t largest(const I32x16& a) {
  int32_t m = a.v[0];
  for (int32_t lane : a.v) m = m > lane ? m : lane;
  return m;
}

constexpr bool kFoldsEight = false;

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_REFERENCE_VECTOR_H_
