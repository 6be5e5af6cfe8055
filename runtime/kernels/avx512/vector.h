// The 16-lane vector types as one zmm register (AVX-512 F, BW, DQ, VL). kernels/reference/vector.h defines each
// operation.
#ifndef BANTAM_KERNELS_AVX512_VECTOR_H_
#define BANTAM_KERNELS_AVX512_VECTOR_H_

// gcc 12 warns about the deliberately undefined operands inside its own intrinsics (its bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

struct F32x16 {
  __m512 v;
};
struct I32x16 {
  __m512i v;
};
struct Mask16 {
  __mmask16 v;
};

// ---- masks
BANTAM_INLINE Mask16 less(F32x16 x, F32x16 y) { return {_mm512_cmp_ps_mask(x.v, y.v, _CMP_LT_OQ)}; }
BANTAM_INLINE Mask16 lanes_between(int32_t begin, int32_t end) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return {_mm512_mask_cmplt_epi32_mask(_mm512_cmpge_epi32_mask(lanes, _mm512_set1_epi32(begin)), lanes,
                                       _mm512_set1_epi32(end))};
}
BANTAM_INLINE F32x16 select(Mask16 m, F32x16 on, F32x16 off) { return {_mm512_mask_blend_ps(m.v, off.v, on.v)}; }
BANTAM_INLINE F32x16 keep(Mask16 m, F32x16 x) { return {_mm512_maskz_mov_ps(m.v, x.v)}; }

// ---- memory
BANTAM_INLINE F32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
BANTAM_INLINE F32x16 load_first(const float* p, uint32_t n) {
  return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1u), p)};
}
BANTAM_INLINE void store(float* p, F32x16 x) { _mm512_storeu_ps(p, x.v); }
BANTAM_INLINE void store_first(float* p, F32x16 x, uint32_t n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1u), x.v);
}
BANTAM_INLINE I32x16 load(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
BANTAM_INLINE void store(int32_t* p, I32x16 x) { _mm512_storeu_si512(p, x.v); }
BANTAM_INLINE F32x16 load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
BANTAM_INLINE I32x16 load_i8(const int8_t* p) {
  return {_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
BANTAM_INLINE void store_bytes(void* p, I32x16 x) {
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtepi32_epi8(x.v));
}

// ---- tables of 16
struct Table16 {
  __m512 v;
};
BANTAM_INLINE Table16 load_table(const float (&t)[16]) { return {_mm512_loadu_ps(t)}; }
BANTAM_INLINE F32x16 lookup(Table16 t, I32x16 index) { return {_mm512_permutexvar_ps(index.v, t.v)}; }

// ---- construction
BANTAM_INLINE F32x16 splat(float x) { return {_mm512_set1_ps(x)}; }
BANTAM_INLINE I32x16 splat(int32_t x) { return {_mm512_set1_epi32(x)}; }

// ---- lane-wise arithmetic
BANTAM_INLINE F32x16 operator+(F32x16 x, F32x16 y) { return {_mm512_add_ps(x.v, y.v)}; }
BANTAM_INLINE F32x16 operator-(F32x16 x, F32x16 y) { return {_mm512_sub_ps(x.v, y.v)}; }
BANTAM_INLINE F32x16 operator*(F32x16 x, F32x16 y) { return {_mm512_mul_ps(x.v, y.v)}; }
BANTAM_INLINE F32x16 operator/(F32x16 x, F32x16 y) { return {_mm512_div_ps(x.v, y.v)}; }
BANTAM_INLINE F32x16 fma(F32x16 x, F32x16 y, F32x16 z) { return {_mm512_fmadd_ps(x.v, y.v, z.v)}; }
BANTAM_INLINE F32x16 min(F32x16 x, F32x16 y) { return {_mm512_min_ps(x.v, y.v)}; }
BANTAM_INLINE F32x16 max(F32x16 x, F32x16 y) { return {_mm512_max_ps(x.v, y.v)}; }
BANTAM_INLINE I32x16 max(I32x16 x, I32x16 y) { return {_mm512_max_epi32(x.v, y.v)}; }
BANTAM_INLINE I32x16 operator+(I32x16 x, I32x16 y) { return {_mm512_add_epi32(x.v, y.v)}; }
BANTAM_INLINE I32x16 operator*(I32x16 x, I32x16 y) { return {_mm512_mullo_epi32(x.v, y.v)}; }
BANTAM_INLINE I32x16 join_bytes(I32x16 x, I32x16 y, I32x16 z, I32x16 w) {
  const __m512i low_byte = _mm512_set1_epi32(0xff);
  const __m512i xy =
      _mm512_or_si512(_mm512_and_si512(x.v, low_byte), _mm512_slli_epi32(_mm512_and_si512(y.v, low_byte), 8));
  const __m512i zw = _mm512_or_si512(_mm512_and_si512(z.v, low_byte), _mm512_slli_epi32(w.v, 8));
  return {_mm512_mask_blend_epi16(0xaaaaaaaau, xy, _mm512_slli_epi32(zw, 16))};
}
BANTAM_INLINE I32x16 times_minus_128(I32x16 x) {
  return {_mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(x.v, 7))};
}
BANTAM_INLINE I32x16 operator^(I32x16 x, I32x16 y) { return {_mm512_xor_si512(x.v, y.v)}; }
BANTAM_INLINE F32x16 to_f32(I32x16 x) { return {_mm512_cvtepi32_ps(x.v)}; }

BANTAM_INLINE I32x16 bits(F32x16 x) { return {_mm512_castps_si512(x.v)}; }
BANTAM_INLINE F32x16 from_bits(I32x16 x) { return {_mm512_castsi512_ps(x.v)}; }
BANTAM_INLINE I32x16 magnitude_bits(F32x16 x) {
  return {_mm512_and_si512(_mm512_castps_si512(x.v), _mm512_set1_epi32(0x7fffffff))};
}
BANTAM_INLINE F32x16 magnitude(F32x16 x) { return {_mm512_castsi512_ps(magnitude_bits(x).v)}; }
BANTAM_INLINE I32x16 round_to_i32(F32x16 x) { return {_mm512_cvtps_epi32(x.v)}; }
BANTAM_INLINE F32x16 low_bits_to_power(I32x16 x) { return {_mm512_castsi512_ps(_mm512_slli_epi32(x.v, 23))}; }

// ---- across lanes
BANTAM_INLINE float sum(F32x16 x) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
BANTAM_INLINE int32_t sum(I32x16 x) { return _mm512_reduce_add_epi32(x.v); }
BANTAM_INLINE float largest(F32x16 x) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
BANTAM_INLINE int32_t largest(I32x16 x) {
  const __m256i eight = _mm256_max_epi32(_mm512_castsi512_si256(x.v), _mm512_extracti64x4_epi64(x.v, 1));
  __m128i t = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  t = _mm_max_epi32(t, _mm_shuffle_epi32(t, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(t, _mm_shuffle_epi32(t, 0xb1)));
}

// ---- across the lanes of eight vectors at once: lane i gets the reduction of v[i], i < 8; the others are undefined
constexpr bool kFoldsEight = true;

/// Folds halves, quarters, pairs, lanes: each step folds two vectors into one, in the order of `sum`.
template <class Combine>
BANTAM_INLINE __m512 fold_eight(const __m512 (&v)[8], const Combine& combine) {
  __m512 halves[4];
  __m512 quarters[2];
  BANTAM_UNROLL
  for (int i = 0; i < 4; ++i) {
    halves[i] = combine(_mm512_shuffle_f32x4(v[i], v[i + 4], 0x44), _mm512_shuffle_f32x4(v[i], v[i + 4], 0xee));
  }
  BANTAM_UNROLL
  for (int i = 0; i < 2; ++i) {
    quarters[i] = combine(_mm512_shuffle_f32x4(halves[i], halves[i + 2], 0x88),
                          _mm512_shuffle_f32x4(halves[i], halves[i + 2], 0xdd));
  }
  const __m512d q0 = _mm512_castps_pd(quarters[0]);
  const __m512d q1 = _mm512_castps_pd(quarters[1]);
  const __m512 pairs =
      combine(_mm512_castpd_ps(_mm512_unpacklo_pd(q0, q1)), _mm512_castpd_ps(_mm512_unpackhi_pd(q0, q1)));
  const __m512 lanes = combine(_mm512_shuffle_ps(pairs, pairs, 0x88), _mm512_shuffle_ps(pairs, pairs, 0xdd));
  // Quarter i holds v[i'] and v[i' + 1] with i' = 0, 4, 2, 6.
  return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 1, 8, 9, 4, 5, 12, 13, 0, 1, 8, 9, 4, 5, 12, 13), lanes);
}
/// Lane i of the result is lane (i + by) % 16.
BANTAM_INLINE F32x16 rotate(F32x16 x, uint32_t by) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return {_mm512_permutexvar_ps(_mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(by))), x.v)};
}
BANTAM_INLINE F32x16 sum_eight(const F32x16 (&x)[8]) {
  const __m512 v[8] = {x[0].v, x[1].v, x[2].v, x[3].v, x[4].v, x[5].v, x[6].v, x[7].v};
  return {fold_eight(
      v, [](__m512 a, __m512 b) __attribute__((always_inline)) { return _mm512_add_ps(a, b); })};
}
BANTAM_INLINE F32x16 largest_of_eight(const F32x16 (&x)[8]) {
  const __m512 v[8] = {x[0].v, x[1].v, x[2].v, x[3].v, x[4].v, x[5].v, x[6].v, x[7].v};
  return {fold_eight(
      v, [](__m512 a, __m512 b) __attribute__((always_inline)) { return _mm512_max_ps(a, b); })};
}
template <class Combine>
BANTAM_INLINE I32x16 fold_eight(const I32x16 (&x)[8], const Combine& combine) {
  __m512 v[8];
  BANTAM_UNROLL
  for (int i = 0; i < 8; ++i) v[i] = _mm512_castsi512_ps(x[i].v);
  return {_mm512_castps_si512(fold_eight(
      v, [&](__m512 a, __m512 b) __attribute__((always_inline)) {
        return _mm512_castsi512_ps(combine(_mm512_castps_si512(a), _mm512_castps_si512(b)));
      }))};
}
BANTAM_INLINE I32x16 sum_eight(const I32x16 (&x)[8]) {
  return fold_eight(
      x, [](__m512i a, __m512i b) __attribute__((always_inline)) { return _mm512_add_epi32(a, b); });
}
BANTAM_INLINE I32x16 largest_of_eight(const I32x16 (&x)[8]) {
  return fold_eight(
      x, [](__m512i a, __m512i b) __attribute__((always_inline)) { return _mm512_max_epi32(a, b); });
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_AVX512_VECTOR_H_
