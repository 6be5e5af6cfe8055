// Integers in two ymm registers for the static kernels, in addition to avx2/vector.h; generic/vector_ints.h defines
// each operation.
#ifndef BANTAM_KERNELS_AVX2_INTS_H_
#define BANTAM_KERNELS_AVX2_INTS_H_

#include "kernels/avx2/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

BANTAM_INLINE I32x16 load_words(const int16_t* p) {
  const auto* x = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtepi16_epi32(_mm_loadu_si128(x)), _mm256_cvtepi16_epi32(_mm_loadu_si128(x + 1))};
}
/// Also saturates.
BANTAM_INLINE void store_words(int16_t* p, I32x16 x) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(x.a, x.b), 0xd8);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), words);
}

BANTAM_INLINE I32x16 min(I32x16 x, I32x16 y) { return {_mm256_min_epi32(x.a, y.a), _mm256_min_epi32(x.b, y.b)}; }
BANTAM_INLINE I32x16 min_unsigned(I32x16 x, I32x16 y) {
  return {_mm256_min_epu32(x.a, y.a), _mm256_min_epu32(x.b, y.b)};
}
BANTAM_INLINE I32x16 operator-(I32x16 x, I32x16 y) { return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)}; }
BANTAM_INLINE I32x16 operator&(I32x16 x, I32x16 y) { return {_mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b)}; }

struct Factors {
  __m256i a, b;  // in the lower half of each lane, the upper half 0
};
BANTAM_INLINE Factors load_factors(const int16_t* p) {
  const auto* x = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtepu16_epi32(_mm_loadu_si128(x)), _mm256_cvtepu16_epi32(_mm_loadu_si128(x + 1))};
}
BANTAM_INLINE Factors splat_factor(int32_t x) {
  const __m256i v = _mm256_set1_epi32(x & 0xffff);
  return {v, v};
}
BANTAM_INLINE Factors as_factors(I32x16 x) { return {x.a, x.b}; }
BANTAM_INLINE I32x16 multiply_add(I32x16 x, Factors y, I32x16 z) {
  return {_mm256_add_epi32(z.a, _mm256_madd_epi16(x.a, y.a)), _mm256_add_epi32(z.b, _mm256_madd_epi16(x.b, y.b))};
}

struct ShiftCount {
  __m128i v;
};
BANTAM_INLINE ShiftCount shift_count(uint32_t n) { return {_mm_cvtsi32_si128(static_cast<int32_t>(n))}; }
BANTAM_INLINE I32x16 shift_right(I32x16 x, ShiftCount n) {
  return {_mm256_sra_epi32(x.a, n.v), _mm256_sra_epi32(x.b, n.v)};
}
template <uint32_t kBits>
BANTAM_INLINE I32x16 shift_right_logical(I32x16 x) {
  return {_mm256_srli_epi32(x.a, kBits), _mm256_srli_epi32(x.b, kBits)};
}
BANTAM_INLINE I32x16 shift_left_each(I32x16 x, I32x16 n) {
  return {_mm256_sllv_epi32(x.a, n.a), _mm256_sllv_epi32(x.b, n.b)};
}
BANTAM_INLINE I32x16 shift_right_each(I32x16 x, I32x16 n) {
  return {_mm256_srlv_epi32(x.a, n.a), _mm256_srlv_epi32(x.b, n.b)};
}

struct FourBytes {
  __m256i a, b;  // bytes of the first two vectors; of the others
};
/// Reorders halves that hold two quarters of two vectors each.
BANTAM_INLINE __m256i halves(__m256i x) {
  return _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
BANTAM_INLINE __m256i saturate_bytes(I32x16 x, I32x16 y) {
  return halves(_mm256_packs_epi16(_mm256_packs_epi32(x.a, x.b), _mm256_packs_epi32(y.a, y.b)));
}
BANTAM_INLINE FourBytes saturate_bytes(const I32x16 (&x)[4]) {
  return {saturate_bytes(x[0], x[1]), saturate_bytes(x[2], x[3])};
}
BANTAM_INLINE __m256i times_255(I32x16 x, I32x16 y) {
  const __m256i by = _mm256_set1_epi16(255);
  return halves(_mm256_packus_epi16(_mm256_mulhrs_epi16(_mm256_packs_epi32(x.a, x.b), by),
                                    _mm256_mulhrs_epi16(_mm256_packs_epi32(y.a, y.b), by)));
}
BANTAM_INLINE FourBytes times_255(const I32x16 (&x)[4]) { return {times_255(x[0], x[1]), times_255(x[2], x[3])}; }
BANTAM_INLINE I32x16 add_bytes(I32x16 total, FourBytes x) {
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i bytes = _mm256_set1_epi8(1);
  return {_mm256_add_epi32(total.a, _mm256_madd_epi16(_mm256_maddubs_epi16(x.a, bytes), ones)),
          _mm256_add_epi32(total.b, _mm256_madd_epi16(_mm256_maddubs_epi16(x.b, bytes), ones))};
}
BANTAM_INLINE FourBytes max(FourBytes x, int8_t y) {
  const __m256i v = _mm256_set1_epi8(y);
  return {_mm256_max_epi8(x.a, v), _mm256_max_epi8(x.b, v)};
}
BANTAM_INLINE FourBytes operator^(FourBytes x, int8_t y) {
  const __m256i v = _mm256_set1_epi8(y);
  return {_mm256_xor_si256(x.a, v), _mm256_xor_si256(x.b, v)};
}
BANTAM_INLINE void store_four(int8_t* const (&to)[4], FourBytes x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[0]), _mm256_castsi256_si128(x.a));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[1]), _mm256_extracti128_si256(x.a, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[2]), _mm256_castsi256_si128(x.b));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to[3]), _mm256_extracti128_si256(x.b, 1));
}
BANTAM_INLINE void store_four(int8_t* to, FourBytes x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x.a);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, x.b);
}

struct ByteTable {
  const int8_t* v;
};
BANTAM_INLINE ByteTable load_byte_table(const int8_t* p) { return {p}; }
/// Looks up the sixteen parts of the table one after the other: a part's shuffle yields 0 if the index belongs to
/// another part.
BANTAM_INLINE FourBytes lookup(const ByteTable& t, FourBytes x) {
  const FourBytes index = x ^ int8_t { -128 };
  FourBytes found = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  const __m256i above = _mm256_set1_epi8(0x70);
  for (uint32_t part = 0; part < 16; ++part) {
    const __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(t.v) + part));
    const FourBytes of_part = index ^ static_cast<int8_t>(part * 16);
    found.a = _mm256_or_si256(found.a, _mm256_shuffle_epi8(bytes, _mm256_adds_epu8(of_part.a, above)));
    found.b = _mm256_or_si256(found.b, _mm256_shuffle_epi8(bytes, _mm256_adds_epu8(of_part.b, above)));
  }
  return found;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The static kernels' numbers, after these definitions.
#include "kernels/generic/vector_ints.h"

#endif  // BANTAM_KERNELS_AVX2_INTS_H_
