// int8 dot product with 256-bit VNNI: one source for the VEX encoding (AVX-VNNI, 16 registers) and the EVEX encoding
// (AVX-512 VL and VNNI, 32 registers).
#ifndef BANTAM_KERNELS_VNNI256_DOT_H_
#define BANTAM_KERNELS_VNNI256_DOT_H_

#include "kernels/avx2/ints.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0x80;
constexpr bool kOffsetInDots = true;

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

/// For few rows, weights of 2 or 4 bits are multiplied without unpacking, codes_panels(rows) panels at a time:
/// linear_codes.h.
#define BANTAM_KERNEL_CODES
constexpr uint32_t codes_panels(uint32_t rows) { return rows == 1 ? 2 : 1; }
constexpr uint32_t kCodesBlock = 4;
#if defined(__AVX512VL__)
constexpr uint32_t kCodesRows = 4;
/// With more rows the first block unpacks the weights: unpacking_block.h.
#define BANTAM_KERNEL_UNPACKS_IN_BLOCKS
#else
constexpr uint32_t kCodesRows = 8;
#endif
/// Four bytes of a row, signed.
using PlainQuad = Quad;
BANTAM_INLINE PlainQuad plain_quad(const void* p) { return signed_quad(p); }
/// Returns bits [shift, shift + bits) of each byte.
BANTAM_INLINE Weights codes(Weights w, int shift, int bits) {
  const __m256i mask = _mm256_set1_epi8(static_cast<char>((1 << bits) - 1));
  return {_mm256_and_si256(reinterpret_cast<__m256i>(reinterpret_cast<__v16hu>(w.a) >> shift), mask),
          _mm256_and_si256(reinterpret_cast<__m256i>(reinterpret_cast<__v16hu>(w.b) >> shift), mask)};
}

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

/// Uses the type of the instruction's result: gcc copies registers in every iteration if types differ.
struct Accumulator {
  __v8si a, b;

  Accumulator() = default;
  BANTAM_INLINE explicit Accumulator(I32x16 start)
      : a(reinterpret_cast<__v8si>(start.a)), b(reinterpret_cast<__v8si>(start.b)) {}
  BANTAM_INLINE void add(Quad q, Weights w) {
    a = reinterpret_cast<__v8si>(BANTAM_DPBUSD(reinterpret_cast<__m256i>(a), q.v, w.a));
    b = reinterpret_cast<__v8si>(BANTAM_DPBUSD(reinterpret_cast<__m256i>(b), q.v, w.b));
  }
  /// Multiplies u8 keys by s8 queries.
  BANTAM_INLINE void add_keys(Quad q, Weights k) {
    a = reinterpret_cast<__v8si>(BANTAM_DPBUSD(reinterpret_cast<__m256i>(a), k.a, q.v));
    b = reinterpret_cast<__v8si>(BANTAM_DPBUSD(reinterpret_cast<__m256i>(b), k.b, q.v));
  }
  BANTAM_INLINE void add_codes(PlainQuad q, Weights h) { add_keys(q, h); }
  BANTAM_INLINE I32x16 get() const { return {reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)}; }
};

/// Sparse weights: four weights of each of four outputs, for all rows.
struct WeightQuads {
  BANTAM_INLINE explicit WeightQuads(const int8_t* w)
      : four(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)))) {}
  __m256i four;
};
/// 32 rows would fill the registers of the EVEX encoding, and are no faster.
constexpr uint32_t kSparseVectors = 1;
/// The sums of one output for 16 rows.
template <uint32_t kRows>
struct RowSums {
  RowSums() = default;
  BANTAM_INLINE explicit RowSums(I32x16 start) : acc(start) {}
  /// rows[16][4].
  template <int kOutput>
  BANTAM_INLINE void add(const WeightQuads& quads, const int8_t* rows) {
    Quad w;
    w.v = _mm256_shuffle_epi32(quads.four, kOutput * 0x55);
    acc.add_keys(w, load_weights(rows));
  }
  BANTAM_INLINE I32x16 get() const { return acc.get(); }

 private:
  Accumulator acc;
};
/// The first eight of them.
template <>
struct RowSums<8> {
  RowSums() = default;
  BANTAM_INLINE explicit RowSums(I32x16 start) : acc(reinterpret_cast<__v8si>(start.a)) {}
  template <int kOutput>
  BANTAM_INLINE void add(const WeightQuads& quads, const int8_t* rows) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows));
    const __m256i w = _mm256_shuffle_epi32(quads.four, kOutput * 0x55);
    acc = reinterpret_cast<__v8si>(BANTAM_DPBUSD(reinterpret_cast<__m256i>(acc), x, w));
  }
  BANTAM_INLINE I32x16 get() const { return {reinterpret_cast<__m256i>(acc), _mm256_setzero_si256()}; }

 private:
  __v8si acc;
};
#undef BANTAM_DPBUSD

/// The fewest rows that have sums of their own: FewSums in generic/linear_sparse.h.
constexpr uint32_t kFewestSums = 8;

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The block, after the quads.
#include "kernels/generic/quad_block.h"

#endif  // BANTAM_KERNELS_VNNI256_DOT_H_
