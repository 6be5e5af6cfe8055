// Integers in a zmm register for the static kernels, in addition to avx512/vector.h; generic/vector_ints.h defines each
// operation.
#ifndef BANTAM_KERNELS_AVX512_INTS_H_
#define BANTAM_KERNELS_AVX512_INTS_H_

#include "kernels/avx512/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

BANTAM_INLINE I32x16 load_words(const int16_t* p) {
  return {_mm512_cvtepi16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
BANTAM_INLINE void store_words(int16_t* p, I32x16 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(x.v));
}

BANTAM_INLINE I32x16 min(I32x16 x, I32x16 y) { return {_mm512_min_epi32(x.v, y.v)}; }
BANTAM_INLINE I32x16 min_unsigned(I32x16 x, I32x16 y) { return {_mm512_min_epu32(x.v, y.v)}; }
BANTAM_INLINE I32x16 operator-(I32x16 x, I32x16 y) { return {_mm512_sub_epi32(x.v, y.v)}; }
BANTAM_INLINE I32x16 operator&(I32x16 x, I32x16 y) { return {_mm512_and_si512(x.v, y.v)}; }

struct Factors {
  __m512i v;  // in the lower half of each lane, the upper half 0
};
BANTAM_INLINE Factors load_factors(const int16_t* p) {
  return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
BANTAM_INLINE Factors splat_factor(int32_t x) { return {_mm512_set1_epi32(x & 0xffff)}; }
BANTAM_INLINE Factors as_factors(I32x16 x) { return {x.v}; }
BANTAM_INLINE I32x16 multiply_add(I32x16 x, Factors y, I32x16 z) { return {_mm512_dpwssd_epi32(z.v, x.v, y.v)}; }

struct ShiftCount {
  __m128i v;
};
BANTAM_INLINE ShiftCount shift_count(uint32_t n) { return {_mm_cvtsi32_si128(static_cast<int32_t>(n))}; }
BANTAM_INLINE I32x16 shift_right(I32x16 x, ShiftCount n) { return {_mm512_sra_epi32(x.v, n.v)}; }
template <uint32_t kBits>
BANTAM_INLINE I32x16 shift_right_logical(I32x16 x) {
  return {_mm512_srli_epi32(x.v, kBits)};
}
BANTAM_INLINE I32x16 shift_left_each(I32x16 x, I32x16 n) { return {_mm512_sllv_epi32(x.v, n.v)}; }
BANTAM_INLINE I32x16 shift_right_each(I32x16 x, I32x16 n) { return {_mm512_srlv_epi32(x.v, n.v)}; }

struct FourBytes {
  __m512i v;
};
/// Reorders quarters that hold a quarter of each of four vectors.
BANTAM_INLINE FourBytes quarters(__m512i x) {
  return {_mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), x)};
}
BANTAM_INLINE FourBytes saturate_bytes(const I32x16 (&x)[4]) {
  const __m512i mixed = _mm512_packs_epi16(_mm512_packs_epi32(x[0].v, x[1].v), _mm512_packs_epi32(x[2].v, x[3].v));
  return quarters(mixed);
}
BANTAM_INLINE FourBytes times_255(const I32x16 (&x)[4]) {
  const __m512i by = _mm512_set1_epi16(255);
  const __m512i low = _mm512_mulhrs_epi16(_mm512_packs_epi32(x[0].v, x[1].v), by);
  const __m512i high = _mm512_mulhrs_epi16(_mm512_packs_epi32(x[2].v, x[3].v), by);
  return quarters(_mm512_packus_epi16(low, high));
}
BANTAM_INLINE I32x16 add_bytes(I32x16 total, FourBytes x) {
  return {_mm512_dpbusd_epi32(total.v, x.v, _mm512_set1_epi8(1))};
}
BANTAM_INLINE FourBytes max(FourBytes x, int8_t y) { return {_mm512_max_epi8(x.v, _mm512_set1_epi8(y))}; }
BANTAM_INLINE FourBytes operator^(FourBytes x, int8_t y) { return {_mm512_xor_si512(x.v, _mm512_set1_epi8(y))}; }
BANTAM_INLINE void store_four(int8_t* const (&to)[4], FourBytes x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[0]), _mm512_castsi512_si128(x.v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[1]), _mm512_extracti32x4_epi32(x.v, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[2]), _mm512_extracti32x4_epi32(x.v, 2));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[3]), _mm512_extracti32x4_epi32(x.v, 3));
}
BANTAM_INLINE void store_four(int8_t* to, FourBytes x) { _mm512_storeu_si512(to, x.v); }

/// Groups of four bytes of four vectors: lane 4 l + j of x[q] becomes the bytes 16 l + 4 q + j of x[0], x[1], x[2] and
/// x[3].
#define BANTAM_KERNEL_INTERLEAVES
BANTAM_INLINE void interleave(FourBytes (&x)[4]) {
  const __m512i ab = _mm512_unpacklo_epi8(x[0].v, x[1].v);
  const __m512i ab_last = _mm512_unpackhi_epi8(x[0].v, x[1].v);
  const __m512i cd = _mm512_unpacklo_epi8(x[2].v, x[3].v);
  const __m512i cd_last = _mm512_unpackhi_epi8(x[2].v, x[3].v);
  x[0].v = _mm512_unpacklo_epi16(ab, cd);
  x[1].v = _mm512_unpackhi_epi16(ab, cd);
  x[2].v = _mm512_unpacklo_epi16(ab_last, cd_last);
  x[3].v = _mm512_unpackhi_epi16(ab_last, cd_last);
}

struct ByteTable {
  __m512i v[4];
};
BANTAM_INLINE ByteTable load_byte_table(const int8_t* p) {
  return {
      {_mm512_loadu_si512(p), _mm512_loadu_si512(p + 64), _mm512_loadu_si512(p + 128), _mm512_loadu_si512(p + 192)}};
}
BANTAM_INLINE FourBytes lookup(const ByteTable& t, FourBytes x) {
#if defined(__AVX512VBMI__)
  return {_mm512_mask_blend_epi8(_mm512_movepi8_mask(x.v), _mm512_permutex2var_epi8(t.v[2], x.v, t.v[3]),
                                 _mm512_permutex2var_epi8(t.v[0], x.v, t.v[1]))};
#else
  const __m512i index = _mm512_xor_si512(x.v, _mm512_set1_epi8(-128));
  // Selects the pair of bytes for the index in the low byte of a word, then one byte of the pair by the lowest bit.
  const auto words = [&](__m512i i) __attribute__((always_inline)) {
    const __m512i pair = _mm512_srli_epi16(i, 1);
    const __m512i low = _mm512_permutex2var_epi16(t.v[0], pair, t.v[1]);
    const __m512i high = _mm512_permutex2var_epi16(t.v[2], pair, t.v[3]);
    const __mmask32 upper = _mm512_test_epi16_mask(i, _mm512_set1_epi16(128));
    const __m512i bit = _mm512_and_si512(i, _mm512_set1_epi16(1));
    return _mm512_srlv_epi16(_mm512_mask_blend_epi16(upper, low, high), _mm512_slli_epi16(bit, 3));
  };
  const __m512i even = words(_mm512_and_si512(index, _mm512_set1_epi16(255)));
  const __m512i odd = words(_mm512_srli_epi16(index, 8));
  return {_mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaau, even, _mm512_slli_epi16(odd, 8))};
#endif
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The static kernels' numbers, after these definitions.
#include "kernels/generic/vector_ints.h"

#endif  // BANTAM_KERNELS_AVX512_INTS_H_
