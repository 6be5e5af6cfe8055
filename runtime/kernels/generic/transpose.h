// Transposes squares of 32-bit numbers in registers, and rows of bytes with them.
#ifndef BANTAM_KERNELS_GENERIC_TRANSPOSE_H_
#define BANTAM_KERNELS_GENERIC_TRANSPOSE_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// The number of 32-bit elements in a register of this instruction set, as compiler vectors.
constexpr uint32_t kRegister = alignof(I32);
constexpr uint32_t kWords = kRegister / 4;
template <uint32_t kCount>
struct WordsOf;
template <>
struct WordsOf<4> {
  using Type = int32_t __attribute__((vector_size(16)));
};
template <>
struct WordsOf<8> {
  using Type = int32_t __attribute__((vector_size(32)));
};
template <>
struct WordsOf<16> {
  using Type = int32_t __attribute__((vector_size(64)));
};
using Words = WordsOf<kWords>::Type;
static_assert(kWords == 4 || kWords == 8 || kWords == 16, "as below");

// Templates, so that only shuffles of this instruction set's registers are compiled.

/// In each 128-bit lane: interleaves the first two numbers of x and y, or the last two.
template <bool kLast, class V>
BANTAM_INLINE V zip(V x, V y) {
  constexpr int k = kLast ? 2 : 0;
  if constexpr (sizeof(V) == 16) {
    return __builtin_shufflevector(x, y, k, k + 4, k + 1, k + 5);
  } else if constexpr (sizeof(V) == 32) {
    return __builtin_shufflevector(x, y, k, k + 8, k + 1, k + 9, k + 4, k + 12, k + 5, k + 13);
  } else {
    return __builtin_shufflevector(x, y, k, k + 16, k + 1, k + 17, k + 4, k + 20, k + 5, k + 21, k + 8, k + 24, k + 9,
                                   k + 25, k + 12, k + 28, k + 13, k + 29);
  }
}

/// In each 128-bit lane: the first two numbers of x, then those of y; or the last two.
template <bool kLast, class V>
BANTAM_INLINE V zip_pairs(V x, V y) {
  constexpr int k = kLast ? 2 : 0;
  if constexpr (sizeof(V) == 16) {
    return __builtin_shufflevector(x, y, k, k + 1, k + 4, k + 5);
  } else if constexpr (sizeof(V) == 32) {
    return __builtin_shufflevector(x, y, k, k + 1, k + 8, k + 9, k + 4, k + 5, k + 12, k + 13);
  } else {
    return __builtin_shufflevector(x, y, k, k + 1, k + 16, k + 17, k + 4, k + 5, k + 20, k + 21, k + 8, k + 9, k + 24,
                                   k + 25, k + 12, k + 13, k + 28, k + 29);
  }
}

/// The even 128-bit lanes of x, then those of y; or the odd ones.
template <bool kOdd, class V>
BANTAM_INLINE V some_lanes(V x, V y) {
  constexpr int k = kOdd ? 4 : 0;
  if constexpr (sizeof(V) == 32) {
    return __builtin_shufflevector(x, y, k, k + 1, k + 2, k + 3, k + 8, k + 9, k + 10, k + 11);
  } else {
    return __builtin_shufflevector(x, y, k, k + 1, k + 2, k + 3, k + 8, k + 9, k + 10, k + 11, k + 16, k + 17, k + 18,
                                   k + 19, k + 24, k + 25, k + 26, k + 27);
  }
}

/// v[i][j] = v[j][i].
template <class V, uint32_t kSize>
BANTAM_INLINE void transpose(V (&v)[kSize]) {
  static_assert(sizeof(V) == kSize * 4, "a square");
  BANTAM_UNROLL_ALWAYS
  for (uint32_t i = 0; i < kSize; i += 4) {
    const V ab = zip<false>(v[i], v[i + 1]);
    const V ab_last = zip<true>(v[i], v[i + 1]);
    const V cd = zip<false>(v[i + 2], v[i + 3]);
    const V cd_last = zip<true>(v[i + 2], v[i + 3]);
    v[i] = zip_pairs<false>(ab, cd);
    v[i + 1] = zip_pairs<true>(ab, cd);
    v[i + 2] = zip_pairs<false>(ab_last, cd_last);
    v[i + 3] = zip_pairs<true>(ab_last, cd_last);
  }
  // Now lane l of v[4 i + j] must move to lane i of v[4 l + j].
  if constexpr (kSize > 4) {
    BANTAM_UNROLL_ALWAYS
    for (uint32_t j = 0; j < 4; ++j) {
      const V even = some_lanes<false>(v[j], v[j + 4]);
      const V odd = some_lanes<true>(v[j], v[j + 4]);
      if constexpr (kSize == 8) {
        v[j] = even;
        v[j + 4] = odd;
      } else {
        const V even_last = some_lanes<false>(v[j + 8], v[j + 12]);
        const V odd_last = some_lanes<true>(v[j + 8], v[j + 12]);
        v[j] = some_lanes<false>(even, even_last);
        v[j + 4] = some_lanes<false>(odd, odd_last);
        v[j + 8] = some_lanes<true>(even, even_last);
        v[j + 12] = some_lanes<true>(odd, odd_last);
      }
    }
  }
}

/// Writes tokens[quads][kRows][4] from rows of bytes; missing rows repeat the last one.
template <uint32_t kRows>
BANTAM_NOINLINE void rows_to_tokens(const int8_t* x, size_t x_stride, uint32_t rows, uint32_t quads, int8_t* tokens) {
  constexpr uint32_t kSquare = kRows < kWords ? kRows : kWords;
  using Row = typename WordsOf<kSquare>::Type;
  for (uint32_t t = 0; t < kRows; t += kSquare) {
    const int8_t* from[kSquare];
    for (uint32_t i = 0; i < kSquare; ++i) from[i] = x + (t + i < rows ? t + i : rows - 1) * x_stride;
    int8_t* to = tokens + t * 4;
    uint32_t quad = 0;
    for (; quad + kSquare <= quads; quad += kSquare, to += kSquare * kRows * 4) {
      Row v[kSquare];
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kSquare; ++i) memcpy(&v[i], from[i] + quad * 4, sizeof(Row));
      transpose(v);
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kSquare; ++i) memcpy(to + i * kRows * 4, &v[i], sizeof(Row));
    }
    for (; quad < quads; ++quad, to += kRows * 4) {
      for (uint32_t i = 0; i < kSquare; ++i) memcpy(to + i * 4, from[i] + quad * 4, 4);
    }
  }
}

using SixteenBytes = int8_t __attribute__((vector_size(16)));

/// Interleaves the first eight bytes of x and y, or the last eight.
template <bool kLast>
BANTAM_INLINE SixteenBytes zip_bytes(SixteenBytes x, SixteenBytes y) {
  constexpr int k = kLast ? 8 : 0;
  return __builtin_shufflevector(x, y, k, k + 16, k + 1, k + 17, k + 2, k + 18, k + 3, k + 19, k + 4, k + 20, k + 5,
                                 k + 21, k + 6, k + 22, k + 7, k + 23);
}
template <bool kLast>
BANTAM_INLINE SixteenBytes zip_byte_pairs(SixteenBytes x, SixteenBytes y) {
  using Pairs = int16_t __attribute__((vector_size(16)));
  constexpr int k = kLast ? 4 : 0;
  return reinterpret_cast<SixteenBytes>(__builtin_shufflevector(reinterpret_cast<Pairs>(x), reinterpret_cast<Pairs>(y),
                                                                k, k + 8, k + 1, k + 9, k + 2, k + 10, k + 3, k + 11));
}

/// Writes sixteen columns of four rows of bytes, x ^ kOffsetXor, as [16][4].
BANTAM_INLINE void columns_of_four(const int8_t* x, size_t x_stride, uint8_t* to) {
  SixteenBytes row[4];
  BANTAM_UNROLL_ALWAYS
  for (uint32_t i = 0; i < 4; ++i) memcpy(&row[i], x + i * x_stride, 16);
  const auto flip = static_cast<int8_t>(kOffsetXor);
  if constexpr (kRegister == 64) {
    // First words, as the rows of a square; then the bytes of four words.
    using Four = int32_t __attribute__((vector_size(16)));
    using Eight = int32_t __attribute__((vector_size(32)));
    using Bytes = int8_t __attribute__((vector_size(64)));
    const auto join = [](SixteenBytes a, SixteenBytes b) __attribute__((always_inline))->Eight {
      return __builtin_shufflevector(reinterpret_cast<Four>(a), reinterpret_cast<Four>(b), 0, 1, 2, 3, 4, 5, 6, 7);
    };
    const auto words = reinterpret_cast<Bytes>(__builtin_shufflevector(join(row[0], row[1]), join(row[2], row[3]), 0, 4,
                                                                       8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const Bytes v =
        __builtin_shufflevector(words, words, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 16, 20, 24, 28, 17,
                                21, 25, 29, 18, 22, 26, 30, 19, 23, 27, 31, 32, 36, 40, 44, 33, 37, 41, 45, 34, 38, 42,
                                46, 35, 39, 43, 47, 48, 52, 56, 60, 49, 53, 57, 61, 50, 54, 58, 62, 51, 55, 59, 63) ^
        flip;
    memcpy(to, &v, 64);
  } else {
    const auto put = [&](uint32_t i, SixteenBytes v) __attribute__((always_inline)) {
      const SixteenBytes flipped = v ^ flip;
      memcpy(to + i * 16, &flipped, 16);
    };
    const SixteenBytes ab = zip_bytes<false>(row[0], row[1]);
    const SixteenBytes ab_last = zip_bytes<true>(row[0], row[1]);
    const SixteenBytes cd = zip_bytes<false>(row[2], row[3]);
    const SixteenBytes cd_last = zip_bytes<true>(row[2], row[3]);
    put(0, zip_byte_pairs<false>(ab, cd));
    put(1, zip_byte_pairs<true>(ab, cd));
    put(2, zip_byte_pairs<false>(ab_last, cd_last));
    put(3, zip_byte_pairs<true>(ab_last, cd_last));
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_TRANSPOSE_H_
