// int8 dot product with 256-bit VNNI: one source for the VEX encoding (AVX-VNNI, 16 registers) and the EVEX encoding
// (AVX-512 VL and VNNI, 32 registers).
#ifndef BANTAM_KERNELS_VNNI256_DOT_H_
#define BANTAM_KERNELS_VNNI256_DOT_H_

#include "kernels/avx2/vector.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0x80;

struct Weights {
  __m256i a, b;
};
struct Quad {
  __m256i v;
};
using SignedQuad = Quad;
using UnsignedQuad = Quad;

BANTAM_INLINE Weights load_weights(const int8_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))};
}
BANTAM_INLINE Quad signed_quad(const void* p) {
  int32_t four;
  memcpy(&four, p, 4);
  return {_mm256_set1_epi32(four)};
}
BANTAM_INLINE Quad unsigned_quad(const void* p) { return signed_quad(p); }

#if defined(__AVX512VL__)
#define BANTAM_DPBUSD _mm256_dpbusd_epi32
constexpr uint32_t kMaxRows = 6;
constexpr uint32_t block_panels(uint32_t rows) { return rows == 1 ? 4 : 2; }
constexpr uint32_t kMaxRowsF32 = 6;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 4 : 2; }
#else
#define BANTAM_DPBUSD _mm256_dpbusd_avx_epi32
constexpr uint32_t kMaxRows = 6;
constexpr uint32_t block_panels(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }
constexpr uint32_t kMaxRowsF32 = 6;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }
#endif

BANTAM_INLINE I32x16 dot(I32x16 acc, Quad q, Weights w) {
  return {BANTAM_DPBUSD(acc.a, q.v, w.a), BANTAM_DPBUSD(acc.b, q.v, w.b)};
}
#undef BANTAM_DPBUSD

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_VNNI256_DOT_H_
