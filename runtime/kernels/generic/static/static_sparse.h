// static_linear for sparse weights (layout sparse_1x4) on 16 lanes: the passes of linear_sparse.h. Sums are converted
// to fewer bits for 16 rows by a panel at a time or, for bytes of many rows where four panels fit in a register, as
// soon as they are computed: then fewer bytes are transposed.
#ifndef BANTAM_KERNELS_GENERIC_STATIC_STATIC_SPARSE_H_
#define BANTAM_KERNELS_GENERIC_STATIC_STATIC_SPARSE_H_

#include "kernels/generic/linear_sparse.h"
#include "kernels/generic/static/static_store.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// Computes outputs [first, first + outputs), at most a span, for all rows, at most 16 * kVectors.
template <uint32_t kVectors>
BANTAM_NOINLINE bool static_sparse_span(const StaticLinear& a, uint32_t first, uint32_t outputs) {
  alignas(64) Found<kVectors> found;
  if constexpr (kVectors == 1) {
    dot_few(a, first, outputs, found);
  } else {
    dot_sparse_span<kVectors>(a, first, outputs, StaySums<kVectors>{found});
  }
  for (uint32_t row = 0; row < a.rows; row += 16) {
    const uint32_t rows = a.rows - row < 16 ? a.rows - row : 16;
    for (uint32_t o = 0; o < outputs; o += 16) {
      alignas(64) int32_t sums[16][16];
      for_rows_of(
          found[o] + row, 16 * kVectors,
          rows, [&](uint32_t r, I32 sum) __attribute__((always_inline)) { store(sums[r], sum); });
      static_store_block<1, false>(a, sums, row, rows, (first + o) / 16);
    }
  }
  return true;
}

#if defined(BANTAM_KERNEL_INTERLEAVES)
/// Bytes of up to 64 rows; missing rows repeat others.
using FoundBytes = int8_t[kSparseSpan][64];

/// Converts the sums of y8 to bytes, before the look-up in a table.
template <uint32_t kVectors>
class BecomeBytes {
 public:
  BANTAM_INLINE BecomeBytes(const StaticLinear& a, uint32_t first, FoundBytes& found)
      : found_(found),
        w_sum_(a.w_sum + first),
        bias_(a.requantise.bias == nullptr ? nullptr : a.requantise.bias + first),
        multiplier_(a.requantise.multiplier + first),
        before_(a.requantise.pre_shift),
        after_(a.requantise.post_shift) {}
  BANTAM_INLINE I32 start(uint32_t o) const {
    const I32 half = splat(before_.half);
    const I32 bias = bias_ != nullptr ? splat(bias_[o]) + half : half;
    return kOffsetInDots ? times_minus_128(splat(w_sum_[o])) + bias : bias;
  }
  BANTAM_INLINE void store_output(const RowSums<16> (&sums)[kVectors], uint32_t o) const {
    const Factors factor = splat_factor(multiplier_[o]);
    I32 v[4];
    BANTAM_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
      v[i] = i < kVectors ? static_value(sums[i % kVectors].get(), factor, before_, after_) : v[i % kVectors];
    }
    const FourBytes bytes = saturate_bytes(v);
    memcpy(found_[o], &bytes, 64);
  }

 private:
  FoundBytes& found_;
  const int32_t* const w_sum_;
  const int32_t* const bias_;
  const int16_t* const multiplier_;
  const RoundShift before_, after_;
};

/// Stores `outputs` columns of rows [0, rows) of y: finish(bytes) of found[o][r].
template <class Finish>
BANTAM_INLINE void store_found(const FoundBytes& found, int8_t* y, size_t y_stride, uint32_t rows, uint32_t outputs,
                               const Finish& finish) {
  alignas(64) int8_t fours[4][16][64];  // of four outputs, with rows in the order of interleave
  for (uint32_t i = 0; i < 16; ++i) {
    FourBytes x[4];
    BANTAM_UNROLL_ALWAYS
    for (uint32_t j = 0; j < 4; ++j) memcpy(&x[j], found[i * 4 + j], 64);
    interleave(x);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t j = 0; j < 4; ++j) memcpy(fours[j][i], &x[j], 64);
  }
  for (uint32_t j = 0; j < 4; ++j) {
    Words v[16];
    BANTAM_UNROLL_ALWAYS
    for (uint32_t i = 0; i < 16; ++i) memcpy(&v[i], fours[j][i], 64);
    transpose(v);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t row = i / 4 * 16 + j * 4 + i % 4;
      if (row >= rows) continue;
      FourBytes bytes;
      memcpy(&bytes, &v[i], 64);
      bytes = finish(bytes) ^ static_cast<int8_t>(kOffsetXor);
      if (outputs == kSparseSpan) {
        memcpy(y + row * y_stride, &bytes, kSparseSpan);
      } else {
        memcpy(y + row * y_stride, &bytes, outputs);
      }
    }
  }
}

/// Does the same as static_sparse_span for y8.
template <uint32_t kVectors>
BANTAM_NOINLINE bool static_byte_span(const StaticLinear& a, uint32_t first, uint32_t outputs) {
  alignas(64) FoundBytes found;
  if (outputs < kSparseSpan) memset(found, 0, sizeof(found));
  dot_sparse_span<kVectors>(a, first, outputs, BecomeBytes<kVectors>(a, first, found));
  with_bytes_of(
      a, [&](const auto& bytes_of) __attribute__((always_inline)) {
        store_found(found, a.y8 + first, a.y_stride, a.rows, outputs, bytes_of);
      });
  return true;
}
#endif

/// Creates spans for static_linear.
struct SpansOfNumbers {
  template <uint32_t kVectors>
  static BANTAM_INLINE bool (*of([[maybe_unused]] const StaticLinear& a))(const StaticLinear&, uint32_t, uint32_t) {
#if defined(BANTAM_KERNEL_INTERLEAVES)
    if constexpr (kVectors > 1) {
      if (a.y8 != nullptr) return static_byte_span<kVectors>;
    }
#endif
    return static_sparse_span<kVectors>;
  }
};

inline bool static_sparse(const StaticLinear& a) { return sparse_passes<SpansOfNumbers>(a); }

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_STATIC_STATIC_SPARSE_H_
