// The 16-lane vector types as two ymm registers (AVX2, FMA, F16C): for all tables of 256-bit instruction sets.
// kernels/reference/vector.h defines each operation.
#ifndef BANTAM_KERNELS_AVX2_VECTOR_H_
#define BANTAM_KERNELS_AVX2_VECTOR_H_

#include <immintrin.h>

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

struct F32x16 {
  __m256 a, b;
};
struct I32x16 {
  __m256i a, b;
};
/// All bits of a lane are set if it is on.
struct Mask16 {
  __m256i a, b;
};

// ---- masks
BANTAM_INLINE Mask16 less(F32x16 x, F32x16 y) {
  return {_mm256_castps_si256(_mm256_cmp_ps(x.a, y.a, _CMP_LT_OQ)),
          _mm256_castps_si256(_mm256_cmp_ps(x.b, y.b, _CMP_LT_OQ))};
}
BANTAM_INLINE Mask16 lanes_between(int32_t begin, int32_t end) {
  const __m256i low = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i high = _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15);
  const __m256i first = _mm256_set1_epi32(begin);
  const __m256i last = _mm256_set1_epi32(end);
  return {_mm256_andnot_si256(_mm256_cmpgt_epi32(first, low), _mm256_cmpgt_epi32(last, low)),
          _mm256_andnot_si256(_mm256_cmpgt_epi32(first, high), _mm256_cmpgt_epi32(last, high))};
}
BANTAM_INLINE F32x16 select(Mask16 m, F32x16 on, F32x16 off) {
  return {_mm256_blendv_ps(off.a, on.a, _mm256_castsi256_ps(m.a)),
          _mm256_blendv_ps(off.b, on.b, _mm256_castsi256_ps(m.b))};
}
BANTAM_INLINE F32x16 keep(Mask16 m, F32x16 x) {
  return {_mm256_and_ps(_mm256_castsi256_ps(m.a), x.a), _mm256_and_ps(_mm256_castsi256_ps(m.b), x.b)};
}

// ---- memory
BANTAM_INLINE F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
BANTAM_INLINE F32x16 load_first(const float* p, uint32_t n) {
  const Mask16 m = lanes_between(0, static_cast<int32_t>(n));
  return {_mm256_maskload_ps(p, m.a), n > 8 ? _mm256_maskload_ps(p + 8, m.b) : _mm256_setzero_ps()};
}
BANTAM_INLINE void store(float* p, F32x16 x) {
  _mm256_storeu_ps(p, x.a);
  _mm256_storeu_ps(p + 8, x.b);
}
BANTAM_INLINE void store_first(float* p, F32x16 x, uint32_t n) {
  const Mask16 m = lanes_between(0, static_cast<int32_t>(n));
  _mm256_maskstore_ps(p, m.a, x.a);
  if (n > 8) _mm256_maskstore_ps(p + 8, m.b, x.b);
}
BANTAM_INLINE I32x16 load(const int32_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 8))};
}
BANTAM_INLINE void store(int32_t* p, I32x16 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x.a);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), x.b);
}
BANTAM_INLINE F32x16 load_f16(const uint16_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
}
BANTAM_INLINE I32x16 load_i8(const int8_t* p) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepi8_epi32(x), _mm256_cvtepi8_epi32(_mm_unpackhi_epi64(x, x))};
}
BANTAM_INLINE void store_bytes(void* p, I32x16 x) {
  const __m256i low_byte = _mm256_set1_epi32(0xff);
  const __m256i words = _mm256_permute4x64_epi64(
      _mm256_packus_epi32(_mm256_and_si256(x.a, low_byte), _mm256_and_si256(x.b, low_byte)), 0xd8);
  const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(static_cast<__m128i*>(p), bytes);
}

// ---- tables of 16: looks up both halves by the low three bits; the fourth bit selects
struct Table16 {
  __m256 low, high;
};
BANTAM_INLINE Table16 load_table(const float (&t)[16]) { return {_mm256_loadu_ps(t), _mm256_loadu_ps(t + 8)}; }
BANTAM_INLINE __m256 lookup(Table16 t, __m256i index) {
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(t.low, index), _mm256_permutevar8x32_ps(t.high, index),
                          _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
}
BANTAM_INLINE F32x16 lookup(Table16 t, I32x16 index) { return {lookup(t, index.a), lookup(t, index.b)}; }

// ---- construction
BANTAM_INLINE F32x16 splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
BANTAM_INLINE I32x16 splat(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }

// ---- lane-wise arithmetic
BANTAM_INLINE F32x16 operator+(F32x16 x, F32x16 y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
BANTAM_INLINE F32x16 operator-(F32x16 x, F32x16 y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
BANTAM_INLINE F32x16 operator*(F32x16 x, F32x16 y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
BANTAM_INLINE F32x16 operator/(F32x16 x, F32x16 y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
BANTAM_INLINE F32x16 fma(F32x16 x, F32x16 y, F32x16 z) {
  return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
BANTAM_INLINE F32x16 min(F32x16 x, F32x16 y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
BANTAM_INLINE F32x16 max(F32x16 x, F32x16 y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
BANTAM_INLINE I32x16 max(I32x16 x, I32x16 y) { return {_mm256_max_epi32(x.a, y.a), _mm256_max_epi32(x.b, y.b)}; }
BANTAM_INLINE I32x16 operator+(I32x16 x, I32x16 y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
BANTAM_INLINE I32x16 operator*(I32x16 x, I32x16 y) {
  return {_mm256_mullo_epi32(x.a, y.a), _mm256_mullo_epi32(x.b, y.b)};
}
BANTAM_INLINE __m256i join_bytes(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i low_byte = _mm256_set1_epi32(0xff);
  const __m256i ab =
      _mm256_or_si256(_mm256_and_si256(a, low_byte), _mm256_slli_epi32(_mm256_and_si256(b, low_byte), 8));
  const __m256i cd = _mm256_or_si256(_mm256_and_si256(c, low_byte), _mm256_slli_epi32(d, 8));
  return _mm256_blend_epi16(ab, _mm256_slli_epi32(cd, 16), 0xaa);
}
BANTAM_INLINE I32x16 join_bytes(I32x16 x, I32x16 y, I32x16 z, I32x16 w) {
  return {join_bytes(x.a, y.a, z.a, w.a), join_bytes(x.b, y.b, z.b, w.b)};
}
BANTAM_INLINE I32x16 times_minus_128(I32x16 x) {
  const __m256i zero = _mm256_setzero_si256();
  return {_mm256_sub_epi32(zero, _mm256_slli_epi32(x.a, 7)), _mm256_sub_epi32(zero, _mm256_slli_epi32(x.b, 7))};
}
BANTAM_INLINE I32x16 operator^(I32x16 x, I32x16 y) { return {_mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b)}; }
BANTAM_INLINE F32x16 to_f32(I32x16 x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }

BANTAM_INLINE I32x16 bits(F32x16 x) { return {_mm256_castps_si256(x.a), _mm256_castps_si256(x.b)}; }
BANTAM_INLINE F32x16 from_bits(I32x16 x) { return {_mm256_castsi256_ps(x.a), _mm256_castsi256_ps(x.b)}; }
BANTAM_INLINE I32x16 magnitude_bits(F32x16 x) {
  const __m256i m = _mm256_set1_epi32(0x7fffffff);
  return {_mm256_and_si256(_mm256_castps_si256(x.a), m), _mm256_and_si256(_mm256_castps_si256(x.b), m)};
}
BANTAM_INLINE F32x16 magnitude(F32x16 x) {
  const I32x16 m = magnitude_bits(x);
  return {_mm256_castsi256_ps(m.a), _mm256_castsi256_ps(m.b)};
}
BANTAM_INLINE I32x16 round_to_i32(F32x16 x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
BANTAM_INLINE F32x16 low_bits_to_power(I32x16 x) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(x.a, 23)), _mm256_castsi256_ps(_mm256_slli_epi32(x.b, 23))};
}

// ---- across lanes
BANTAM_INLINE float sum(F32x16 x) {
  const __m256 eight = _mm256_add_ps(x.a, x.b);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
BANTAM_INLINE int32_t sum(I32x16 x) {
  const __m256i eight = _mm256_add_epi32(x.a, x.b);
  __m128i t = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  t = _mm_add_epi32(t, _mm_shuffle_epi32(t, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(t, _mm_shuffle_epi32(t, 0xb1)));
}
BANTAM_INLINE float largest(F32x16 x) {
  const __m256 eight = _mm256_max_ps(x.a, x.b);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
BANTAM_INLINE int32_t largest(I32x16 x) {
  const __m256i eight = _mm256_max_epi32(x.a, x.b);
  __m128i t = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  t = _mm_max_epi32(t, _mm_shuffle_epi32(t, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(t, _mm_shuffle_epi32(t, 0xb1)));
}

constexpr bool kFoldsEight = false;

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_AVX2_VECTOR_H_
