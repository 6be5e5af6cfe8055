// Vectors of one lane: plain numbers. The definition of every operation that the other instruction sets implement with
// intrinsics on 16 lanes; what each operation means is documented here once.
#ifndef BANTAM_KERNELS_REFERENCE_VECTOR_H_
#define BANTAM_KERNELS_REFERENCE_VECTOR_H_

#include "kernels/generic/soft_float.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

// ---- memory. `first` variants access only the first n elements, 0 <= n <= the number of lanes, and read the others as
// +0.
BANTAM_TINY float load(const float* p) { return *p; }
BANTAM_TINY float load_first(const float* p, uint32_t n) { return n != 0 ? *p : 0.0f; }
BANTAM_TINY void store(float* p, float a) { *p = a; }
BANTAM_TINY void store_first(float* p, float a, uint32_t n) {
  if (n != 0) *p = a;
}
BANTAM_TINY int32_t load(const int32_t* p) { return *p; }
BANTAM_TINY void store(int32_t* p, int32_t a) { *p = a; }
BANTAM_TINY float load_f16(const uint16_t* p) { return soft_f16(*p); }
/// Loads signed bytes.
BANTAM_TINY int32_t load_i8(const int8_t* p) { return int32_t{*p}; }  // NOLINT(bugprone-signed-char-misuse): numbers
/// Stores the low byte of each lane.
BANTAM_TINY void store_bytes(void* p, int32_t a) { *static_cast<uint8_t*>(p) = static_cast<uint8_t>(a & 0xff); }

// ---- tables of 16
struct Table16 {
  const float* v;
};
BANTAM_TINY Table16 load_table(const float (&t)[16]) { return {t}; }
/// The element that the low four bits of index select.
BANTAM_TINY float lookup(Table16 t, int32_t index) { return t.v[index & 15]; }

// ---- construction
BANTAM_TINY float splat(float a) { return a; }
BANTAM_TINY int32_t splat(int32_t a) { return a; }

// ---- lane-wise arithmetic; + - * / of floats, + and ^ of integers are those of C++
/// a * b + c, rounded once. Newlib's fmaf rounds twice.
BANTAM_TINY float fma(float a, float b, float c) {
#if defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#elif BANTAM_KERNEL_DOUBLES
  return double_fma(a, b, c);
#else
  return soft_fma(a, b, c);
#endif
}
/// a < b ? a : b, so that a NaN in b is propagated.
BANTAM_TINY float min(float a, float b) { return a < b ? a : b; }
/// a > b ? a : b, so that a NaN in b is propagated.
BANTAM_TINY float max(float a, float b) { return a > b ? a : b; }
BANTAM_TINY int32_t max(int32_t a, int32_t b) { return a > b ? a : b; }
BANTAM_TINY float to_f32(int32_t a) { return static_cast<float>(a); }

BANTAM_TINY int32_t bits(float a) {
  int32_t b;
  memcpy(&b, &a, sizeof b);
  return b;
}
BANTAM_TINY float from_bits(int32_t a) {
  float f;
  memcpy(&f, &a, sizeof f);
  return f;
}
/// The bits without the sign: as integers they are ordered like |a|, with infinity and NaN the largest.
BANTAM_TINY int32_t magnitude_bits(float a) { return bits(a) & 0x7fffffff; }
BANTAM_TINY float magnitude(float a) { return __builtin_fabsf(a); }
/// Rounds to nearest even, for |a| <= 2^22: adding 1.5 * 2^23 leaves the integer in the low bits.
BANTAM_TINY int32_t round_to_i32(float a) {
  return static_cast<int32_t>(static_cast<uint32_t>(bits(a + 12582912.0f)) - 0x4b400000u);
}
/// The float with the bits a << 23: scales by a power of two in exp.
BANTAM_TINY float low_bits_to_power(int32_t a) {
  return from_bits(static_cast<int32_t>(static_cast<uint32_t>(a) << 23));
}
// With 16 lanes also: join_bytes(a, b, c, d), which packs the low bytes into each lane, a lowest; times_minus_128(a).

// ---- masks: lanes that are "on"
BANTAM_TINY bool less(float a, float b) { return a < b; }
/// Lanes [begin, end); bounds outside the vector are clamped to its ends.
BANTAM_TINY bool lanes_between(int32_t begin, int32_t end) { return begin <= 0 && end > 0; }
BANTAM_TINY float select(bool m, float on, float off) { return m ? on : off; }
/// Lanes that are off become +0.
BANTAM_TINY float keep(bool m, float a) { return m ? a : 0.0f; }

// ---- across lanes
// With 16 lanes, sum(float): the fixed tree, lanes l and l + 8, then l and l + 4, l + 2, l + 1: see generic/lanes.h.
BANTAM_TINY int32_t sum(int32_t a) { return a; }
/// The largest lane; between +0 and -0 the result is unspecified.
BANTAM_TINY float largest(float a) { return a; }
BANTAM_TINY int32_t largest(int32_t a) { return a; }

constexpr bool kFoldsEight = false;

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_REFERENCE_VECTOR_H_
