// int8 dot product without VNNI: vpmaddubsw multiplies u8 by s8 and adds pairs in s16, vpmaddwd adds those pairs.
// Pairs must stay within s16: one side is at most 127 or 128 in magnitude.
#ifndef BANTAM_KERNELS_AVX2_DOT_H_
#define BANTAM_KERNELS_AVX2_DOT_H_

#include "kernels/avx2/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0;

struct Weights {
  __m256i a, b;
};
struct SignedQuad {
  __m256i v, magnitude;
};
/// Probabilities p as two halves of at most 128.
struct UnsignedQuad {
  __m256i half, rest;
};

BANTAM_INLINE Weights load_weights(const int8_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
}
BANTAM_INLINE __m256i broadcast_four(const void* p) {
  int32_t four;
  memcpy(&four, p, 4);
  return _mm256_set1_epi32(four);
}
BANTAM_INLINE SignedQuad signed_quad(const void* p) {
  const __m256i v = broadcast_four(p);
  return {v, _mm256_abs_epi8(v)};
}
BANTAM_INLINE UnsignedQuad unsigned_quad(const void* p) {
  const __m256i v = broadcast_four(p);
  const __m256i half = _mm256_and_si256(_mm256_srli_epi16(v, 1), _mm256_set1_epi8(0x7f));
  return {half, _mm256_sub_epi8(v, half)};
}

/// acc + the four products of each lane; |u| * 127 * 2 must fit s16, so u <= 128.
BANTAM_INLINE __m256i dot_u8_s8(__m256i acc, __m256i u, __m256i s) {
  return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(u, s), _mm256_set1_epi16(1)));
}
/// |x| by the weight with the sign of x: |x| * |w| * 2 <= 127 * 127 * 2. A garbage -128 meets weights of 0 only.
BANTAM_INLINE I32x16 dot(I32x16 acc, SignedQuad q, Weights w) {
  return {dot_u8_s8(acc.a, q.magnitude, _mm256_sign_epi8(w.a, q.v)),
          dot_u8_s8(acc.b, q.magnitude, _mm256_sign_epi8(w.b, q.v))};
}
BANTAM_INLINE I32x16 dot(I32x16 acc, UnsignedQuad q, Weights w) {
  return {dot_u8_s8(dot_u8_s8(acc.a, q.half, w.a), q.rest, w.a),
          dot_u8_s8(dot_u8_s8(acc.b, q.half, w.b), q.rest, w.b)};
}

constexpr uint32_t kMaxRows = 4;
constexpr uint32_t block_panels(uint32_t rows) { return rows == 1 ? 2 : 1; }
constexpr uint32_t kMaxRowsF32 = 6;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_AVX2_DOT_H_
