// int8 dot product with AVX-512 VNNI: vpdpbusd, u8 activations (x + 128) by s8 weights, exact in int32.
#ifndef BANTAM_KERNELS_AVX512_DOT_H_
#define BANTAM_KERNELS_AVX512_DOT_H_

#include "kernels/avx512/ints.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

constexpr uint8_t kOffsetXor = 0x80;
constexpr bool kOffsetInDots = true;

struct Weights {
  __m512i v;
};
struct Quad {
  __m512i v;
};
using SignedQuad = Quad;
using UnsignedQuad = Quad;

BANTAM_INLINE Weights load_weights(const int8_t* p) { return {_mm512_loadu_si512(p)}; }
BANTAM_INLINE Quad signed_quad(const void* p) {
  int32_t four;
  memcpy(&four, p, 4);
  return {_mm512_set1_epi32(four)};
}
BANTAM_INLINE Quad unsigned_quad(const void* p) { return signed_quad(p); }

/// For few rows, weights of 2 or 4 bits are multiplied without unpacking, codes_panels(rows) panels at a time:
/// linear_codes.h.
#define BANTAM_KERNEL_CODES
constexpr uint32_t codes_panels(uint32_t rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
constexpr uint32_t kCodesBlock = 6, kCodesRows = 6;
/// With more rows the first block unpacks the weights: unpacking_block.h.
#define BANTAM_KERNEL_UNPACKS_IN_BLOCKS
/// Four bytes of a row, signed.
using PlainQuad = Quad;
BANTAM_INLINE PlainQuad plain_quad(const void* p) { return signed_quad(p); }
/// Returns bits [shift, shift + bits) of each byte.
BANTAM_INLINE Weights codes(Weights w, int shift, int bits) {
  return {_mm512_and_si512(reinterpret_cast<__m512i>(reinterpret_cast<__v32hu>(w.v) >> shift),
                           _mm512_set1_epi8(static_cast<char>((1 << bits) - 1)))};
}

/// Uses the type of the instruction's result: gcc copies registers in every iteration if types differ.
struct Accumulator {
  __v16si v;

  Accumulator() = default;
  BANTAM_INLINE explicit Accumulator(I32x16 start) : v(reinterpret_cast<__v16si>(start.v)) {}
  BANTAM_INLINE void add(Quad q, Weights w) {
    v = reinterpret_cast<__v16si>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(v), q.v, w.v));
  }
  /// Multiplies u8 keys by s8 queries.
  BANTAM_INLINE void add_keys(Quad q, Weights k) {
    v = reinterpret_cast<__v16si>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(v), k.v, q.v));
  }
  BANTAM_INLINE void add_codes(PlainQuad q, Weights h) { add_keys(q, h); }
  BANTAM_INLINE I32x16 get() const { return {reinterpret_cast<__m512i>(v)}; }
};

/// Sparse weights: four weights of each of four outputs, for all rows. They take one load and four shuffles, because a
/// sparse layer is bound by loads.
struct WeightQuads {
  BANTAM_INLINE explicit WeightQuads(const int8_t* w)
      : four(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)))) {}
  __m512i four;
};
/// The sums of four outputs for 64 rows take 16 of 32 registers.
constexpr uint32_t kSparseVectors = 4;
/// The sums of one output for 16 rows.
template <uint32_t kRows>
struct RowSums {
  RowSums() = default;
  BANTAM_INLINE explicit RowSums(I32x16 start) : acc(start) {}
  /// rows[16][4].
  template <int kOutput>
  BANTAM_INLINE void add(const WeightQuads& quads, const int8_t* rows) {
    Quad w;
    w.v = _mm512_shuffle_epi32(quads.four, static_cast<_MM_PERM_ENUM>(kOutput * 0x55));
    acc.add_keys(w, load_weights(rows));
  }
  BANTAM_INLINE I32x16 get() const { return acc.get(); }

 private:
  Accumulator acc;
};

/// The fewest rows that have sums of their own: FewSums in generic/linear_sparse.h.
constexpr uint32_t kFewestSums = 4;
template <uint32_t kRows>
class FewSums;
/// Inputs of two outputs share a register. Masked loads merge them, because shuffles share few ports.
template <>
class FewSums<8> {
 public:
  BANTAM_INLINE FewSums() : first_{}, last_{} {}
  BANTAM_INLINE void add(const int8_t* tokens, const int8_t* w, const uint16_t* places) {
    const __m512i four = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
    const __m512i first = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m512i last = _mm512_setr_epi32(2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    add(&first_, two(tokens, places), _mm512_permutexvar_epi32(first, four));
    add(&last_, two(tokens, places + 2), _mm512_permutexvar_epi32(last, four));
  }
  template <int kOutput>
  BANTAM_INLINE I32x16 get() const {
    const auto sums = reinterpret_cast<__m512i>(kOutput < 2 ? first_ : last_);
    return {_mm512_zextsi256_si512(_mm512_extracti64x4_epi64(sums, kOutput % 2))};
  }

 private:
  static BANTAM_INLINE __m512i two(const int8_t* tokens, const uint16_t* places) {
    const auto* x = reinterpret_cast<const __m256i*>(tokens);
    return _mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(_mm256_loadu_si256(x + places[0])), 0xF0,
                                       _mm256_loadu_si256(x + places[1]));
  }
  static BANTAM_INLINE void add(__v16si* sums, __m512i x, __m512i w) {
    *sums = reinterpret_cast<__v16si>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(*sums), x, w));
  }

  __v16si first_, last_;
};
/// Inputs of four outputs share a register.
template <>
class FewSums<4> {
 public:
  BANTAM_INLINE FewSums() : sums_{} {}
  BANTAM_INLINE void add(const int8_t* tokens, const int8_t* w, const uint16_t* places) {
    const auto* rows = reinterpret_cast<const __m128i*>(tokens);
    const __m512i four = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
    const __m512i each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    __m512i x = _mm512_castsi128_si512(_mm_loadu_si128(rows + places[0]));
    x = _mm512_mask_broadcast_i32x4(x, 0x00F0, _mm_loadu_si128(rows + places[1]));
    x = _mm512_mask_broadcast_i32x4(x, 0x0F00, _mm_loadu_si128(rows + places[2]));
    x = _mm512_mask_broadcast_i32x4(x, 0xF000, _mm_loadu_si128(rows + places[3]));
    sums_ = reinterpret_cast<__v16si>(
        _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums_), x, _mm512_permutexvar_epi32(each, four)));
  }
  template <int kOutput>
  BANTAM_INLINE I32x16 get() const {
    return {_mm512_zextsi128_si512(_mm512_extracti32x4_epi32(reinterpret_cast<__m512i>(sums_), kOutput))};
  }

 private:
  __v16si sums_;
};

// 8 rows by 32 outputs use 16 of 32 registers; fewer rows take more outputs, so that enough dot products, with a
// latency of four cycles, are in flight.
constexpr uint32_t kMaxRows = 8;
constexpr uint32_t block_panels(uint32_t rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
constexpr uint32_t kMaxRowsF32 = 8;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The block, after the quads.
#include "kernels/generic/quad_block.h"

#endif  // BANTAM_KERNELS_AVX512_DOT_H_
