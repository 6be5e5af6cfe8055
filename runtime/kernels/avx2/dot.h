// int8 dot product without VNNI: vpmaddubsw multiplies |x| by a signed weight and adds pairs in s16, then vpmaddwd adds
// adjacent pairs. Pairs must fit in s16: one side is at most 127 or 128 in magnitude.
#ifndef BANTAM_KERNELS_AVX2_DOT_H_
#define BANTAM_KERNELS_AVX2_DOT_H_

#include "kernels/avx2/ints.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Rows are stored as 256-bit VNNI needs them, because that instruction set shares the other kernels of this one; they
/// are converted to signed before a dot product.
constexpr uint8_t kOffsetXor = 0x80;
constexpr bool kOffsetInDots = false;

struct Weights {
  __m256i a, b;
};
/// |x|, and a mask of the bytes whose x is negative.
struct SignedQuad {
  __m256i magnitude, negative;
};
/// Probabilities p as the sum of two halves of at most 128.
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
  return {_mm256_abs_epi8(v), _mm256_cmpgt_epi8(_mm256_setzero_si256(), v)};
}
BANTAM_INLINE UnsignedQuad unsigned_quad(const void* p) {
  const __m256i v = broadcast_four(p);
  const __m256i half = _mm256_and_si256(_mm256_srli_epi16(v, 1), _mm256_set1_epi8(0x7f));
  return {half, _mm256_sub_epi8(v, half)};
}

/// Weights of 2 or 4 bits are multiplied without unpacking, this many panels at a time: linear_codes.h. For any number
/// of rows, because codes take two instructions where bytes take four: CodeSums.
#define BANTAM_KERNEL_CODES
constexpr uint32_t codes_panels(uint32_t rows) { return rows == 1 ? 2 : 1; }
constexpr uint32_t kCodesBlock = 6, kCodesRows = UINT32_MAX;
/// Four bytes of a row, signed.
struct PlainQuad {
  __m256i v;
};
BANTAM_INLINE PlainQuad plain_quad(const void* p) { return {broadcast_four(p)}; }
/// Returns bits [shift, shift + bits) of each byte.
BANTAM_INLINE Weights codes(Weights w, int shift, int bits) {
  const __m256i mask = _mm256_set1_epi8(static_cast<char>((1 << bits) - 1));
  return {_mm256_and_si256(reinterpret_cast<__m256i>(reinterpret_cast<__v16hu>(w.a) >> shift), mask),
          _mm256_and_si256(reinterpret_cast<__m256i>(reinterpret_cast<__v16hu>(w.b) >> shift), mask)};
}

/// The factors of 16 outputs, each twice, for the two words of a sum.
struct CodeFactors {
  __m256i a, b;
  BANTAM_INLINE explicit CodeFactors(const int8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m256i words = _mm256_permute4x64_epi64(_mm256_cvtepu8_epi16(bytes), 0xd8);
    a = _mm256_unpacklo_epi16(words, words);
    b = _mm256_unpackhi_epi16(words, words);
  }
};
/// Sums of (code - zero) * x for 16 outputs, in words: one for the first two and one for the last two of each four
/// inputs. A product is at most zero * 127, so that the sums of code_inputs(zero) inputs, half of them in each word,
/// are at most 32,512; intermediate words may overflow.
constexpr uint32_t code_inputs(int32_t zero) { return 512 / static_cast<uint32_t>(zero); }
#define BANTAM_KERNEL_CODES_IN_WORDS
struct CodeSums {
  __v16hu a, b;

  CodeSums() = default;
  /// Returns the initial value of both words; `low`: sum of the first two inputs of each four, `high`: sum of the last
  /// two.
  static BANTAM_INLINE int32_t start_of(int32_t zero, int32_t low, int32_t high) {
    return static_cast<int32_t>((static_cast<uint32_t>(-zero * low) & 0xFFFF) | static_cast<uint32_t>(-zero * high)
                                                                                    << 16);
  }
  /// `start`: the initial value of both words.
  BANTAM_INLINE explicit CodeSums(const int32_t* start) : a(reinterpret_cast<__v16hu>(broadcast_four(start))), b(a) {}
  /// A pair of products is at most 15 * 127 * 2.
  BANTAM_INLINE void add(PlainQuad q, Weights h) {
    a += reinterpret_cast<__v16hu>(_mm256_maddubs_epi16(h.a, q.v));
    b += reinterpret_cast<__v16hu>(_mm256_maddubs_epi16(h.b, q.v));
  }
  BANTAM_INLINE I32x16 get() const {
    const __m256i ones = _mm256_set1_epi16(1);
    return {_mm256_madd_epi16(reinterpret_cast<__m256i>(a), ones),
            _mm256_madd_epi16(reinterpret_cast<__m256i>(b), ones)};
  }
  BANTAM_INLINE I32x16 times(const CodeFactors& factors) const {
    return {_mm256_madd_epi16(reinterpret_cast<__m256i>(a), factors.a),
            _mm256_madd_epi16(reinterpret_cast<__m256i>(b), factors.b)};
  }
};

/// |x| and the signs of a block's rows, for some quads at a time: computed once for all panels that a block multiplies,
/// not in every dot product, whose four instructions already use the processor fully. Rows are stored as x ^ offset.
#define BANTAM_KERNEL_PREPARES_ROWS
constexpr uint32_t kPreparedQuads = 384;
template <uint32_t kRows>
struct PreparedRows {
  alignas(32) uint8_t magnitude[kRows][kPreparedQuads * 4];
  alignas(32) uint8_t negative[kRows][kPreparedQuads * 4];

  /// The sum of |x| over the negative elements of each row: see Accumulator::add.
  int32_t below[kRows];

  /// Prepares `count` elements of each row, a multiple of 4.
  BANTAM_INLINE void prepare(const int8_t* x, size_t x_stride, uint32_t count, uint8_t offset) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i flip = _mm256_set1_epi8(static_cast<char>(offset));
    for (uint32_t r = 0; r < kRows; ++r, x += x_stride) {
      __v4di total = {0, 0, 0, 0};
      uint32_t i = 0;
      for (; i + 32 <= count; i += 32) {
        const __m256i v = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i)), flip);
        const SignedQuad parts = {_mm256_abs_epi8(v), _mm256_cmpgt_epi8(zero, v)};
        _mm256_store_si256(reinterpret_cast<__m256i*>(magnitude[r] + i), parts.magnitude);
        _mm256_store_si256(reinterpret_cast<__m256i*>(negative[r] + i), parts.negative);
        total += reinterpret_cast<__v4di>(_mm256_sad_epu8(_mm256_and_si256(parts.magnitude, parts.negative), zero));
      }
      below[r] = static_cast<int32_t>(total[0] + total[1] + total[2] + total[3]);
      for (; i < count; i += 4) {
        int32_t stored;
        memcpy(&stored, x + i, 4);
        const __m128i v = _mm_xor_si128(_mm_cvtsi32_si128(stored), _mm256_castsi256_si128(flip));
        const __m128i absolute = _mm_abs_epi8(v);
        const __m128i below_zero = _mm_cmpgt_epi8(_mm_setzero_si128(), v);
        const int32_t m = _mm_cvtsi128_si32(absolute);
        const int32_t n = _mm_cvtsi128_si32(below_zero);
        memcpy(magnitude[r] + i, &m, 4);
        memcpy(negative[r] + i, &n, 4);
        const __m128i four = _mm_cvtsi32_si128(m & n);
        below[r] += _mm_cvtsi128_si32(_mm_sad_epu8(four, _mm_setzero_si128()));
      }
    }
  }
  BANTAM_INLINE SignedQuad quad(uint32_t r, uint32_t i) const {
    return {broadcast_four(magnitude[r] + size_t{i} * 4), broadcast_four(negative[r] + size_t{i} * 4)};
  }
};

/// Adds the four products of each lane; |u| * 127 * 2 must fit in s16, so u <= 128.
BANTAM_INLINE __v8si dot_u8_s8(__m256i u, __m256i s) {
  return reinterpret_cast<__v8si>(_mm256_madd_epi16(_mm256_maddubs_epi16(u, s), _mm256_set1_epi16(1)));
}

/// Adds four products of each of two quads, first in words: half as many vpmaddwd, of which a processor executes two
/// per cycle. For weights with LinearQ8::fits_words.
#define BANTAM_KERNEL_BYTES_IN_WORDS
BANTAM_INLINE __v8si dot_two_u8_s8(__m256i u, __m256i s, __m256i further_u, __m256i further_s) {
  const __m256i words = _mm256_add_epi16(_mm256_maddubs_epi16(u, s), _mm256_maddubs_epi16(further_u, further_s));
  return reinterpret_cast<__v8si>(_mm256_madd_epi16(words, _mm256_set1_epi16(1)));
}

/// Uses a single type: gcc copies registers in every iteration if types differ.
struct Accumulator {
  __v8si a, b;

  Accumulator() = default;
  BANTAM_INLINE explicit Accumulator(I32x16 start)
      : a(reinterpret_cast<__v8si>(start.a)), b(reinterpret_cast<__v8si>(start.b)) {}
  /// |x| by w, or by ~w if x is negative: there x * w = |x| * ~w + |x|, and those |x| are added at the end. Half the
  /// cost of vpsignb, which competes with the multiplications. |x| * |~w| * 2 <= 127 * 128 * 2; an x of -128 occurs
  /// only in padding, where weights are 0.
  BANTAM_INLINE void add(SignedQuad q, Weights w) {
    a += dot_u8_s8(q.magnitude, _mm256_xor_si256(w.a, q.negative));
    b += dot_u8_s8(q.magnitude, _mm256_xor_si256(w.b, q.negative));
  }
  /// Adds two quads at once.
  BANTAM_INLINE void add(SignedQuad q, Weights w, SignedQuad further, Weights v) {
    a += dot_two_u8_s8(q.magnitude, _mm256_xor_si256(w.a, q.negative), further.magnitude,
                       _mm256_xor_si256(v.a, further.negative));
    b += dot_two_u8_s8(q.magnitude, _mm256_xor_si256(w.b, q.negative), further.magnitude,
                       _mm256_xor_si256(v.b, further.negative));
  }
  /// Keys are stored as k + 128.
  BANTAM_INLINE void add_keys(SignedQuad q, Weights k) {
    const __m256i flip = _mm256_set1_epi8(static_cast<char>(kOffsetXor));
    add(q, {_mm256_xor_si256(k.a, flip), _mm256_xor_si256(k.b, flip)});
  }
  BANTAM_INLINE void add(UnsignedQuad q, Weights w) {
    a += dot_u8_s8(q.half, w.a) + dot_u8_s8(q.rest, w.a);
    b += dot_u8_s8(q.half, w.b) + dot_u8_s8(q.rest, w.b);
  }
  BANTAM_INLINE I32x16 get() const { return {reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)}; }
};

/// Sparse weights: four weights of each of four outputs, for all rows.
struct WeightQuads {
  BANTAM_INLINE explicit WeightQuads(const int8_t* w)
      : four(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)))),
        magnitudes(_mm256_abs_epi8(four)) {}
  __m256i four, magnitudes;
};
constexpr uint32_t kSparseVectors = 1;
/// The sums of one output for 16 rows, or for the first eight of them.
template <uint32_t kRows>
struct RowSums {
  __v8si a, b;

  RowSums() = default;
  BANTAM_INLINE explicit RowSums(I32x16 start)
      : a(reinterpret_cast<__v8si>(start.a)), b(reinterpret_cast<__v8si>(start.b)) {}
  /// rows[kRows][4], in stored form; multiplies |w| by x with the sign of w. An x of -128 occurs only in padding, where
  /// weights are 0.
  template <int kOutput>
  BANTAM_INLINE void add(const WeightQuads& quads, const int8_t* rows) {
    const __m256i magnitude = _mm256_shuffle_epi32(quads.magnitudes, kOutput * 0x55);
    const __m256i w = _mm256_shuffle_epi32(quads.four, kOutput * 0x55);
    a += dot_of_stored(rows, magnitude, w);
    if constexpr (kRows > 8) b += dot_of_stored(rows + 32, magnitude, w);
  }
  BANTAM_INLINE I32x16 get() const { return {reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)}; }

 private:
  static BANTAM_INLINE __v8si dot_of_stored(const int8_t* rows, __m256i magnitude, __m256i w) {
    const __m256i stored = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows));
    const __m256i x = _mm256_xor_si256(stored, _mm256_set1_epi8(static_cast<char>(kOffsetXor)));
    return dot_u8_s8(magnitude, _mm256_sign_epi8(x, w));
  }
};

/// The fewest rows that have sums of their own: FewSums in generic/linear_sparse.h.
constexpr uint32_t kFewestSums = 4;
template <uint32_t kRows>
class FewSums;
/// Inputs of two outputs share a register.
template <>
class FewSums<4> {
 public:
  BANTAM_INLINE FewSums() : first_{}, last_{} {}
  BANTAM_INLINE void add(const int8_t* tokens, const int8_t* w, const uint16_t* places) {
    const __m256i four = _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w)));
    const __m256i first = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1), last = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
    first_ += dot(tokens, places, _mm256_permutevar8x32_epi32(four, first));
    last_ += dot(tokens, places + 2, _mm256_permutevar8x32_epi32(four, last));
  }
  template <int kOutput>
  BANTAM_INLINE I32x16 get() const {
    const auto sums = reinterpret_cast<__m256i>(kOutput < 2 ? first_ : last_);
    return {_mm256_zextsi128_si256(_mm256_extracti128_si256(sums, kOutput % 2)), _mm256_setzero_si256()};
  }

 private:
  static BANTAM_INLINE __v8si dot(const int8_t* tokens, const uint16_t* places, __m256i w) {
    const auto* rows = reinterpret_cast<const __m128i*>(tokens);
    const __m256i stored = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(rows + places[0])),
                                                   _mm_loadu_si128(rows + places[1]), 1);
    const __m256i x = _mm256_xor_si256(stored, _mm256_set1_epi8(static_cast<char>(kOffsetXor)));
    return dot_u8_s8(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  }

  __v8si first_, last_;
};

// 3 rows by 32 outputs fill the 16 registers: 12 sums, |x|, its signs, ones, one product.
constexpr uint32_t kMaxRows = 3;
constexpr uint32_t block_panels(uint32_t) { return 2; }
constexpr uint32_t kMaxRowsF32 = 6;
constexpr uint32_t block_panels_f32(uint32_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

// The block, after the quads.
#include "kernels/generic/quad_block.h"

#endif  // BANTAM_KERNELS_AVX2_DOT_H_
