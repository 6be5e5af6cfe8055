// linear_q8 of sparse weights (layout sparse_1x4) on 16 lanes, which are 16 rows here: each nonzero block of four weights
// meets the same four inputs of all of them.
#ifndef BANTAM_KERNELS_GENERIC_LINEAR_SPARSE_H_
#define BANTAM_KERNELS_GENERIC_LINEAR_SPARSE_H_

#include "kernels/generic/linear.h"
#include "kernels/generic/transpose.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// tokens[quads][16][4] from rows of bytes; rows that are not there repeat the last one.
BANTAM_NOINLINE inline void rows_to_tokens(const int8_t* x, size_t x_stride, uint32_t rows, uint32_t quads,
                                           int8_t* tokens) {
  for (uint32_t t = 0; t < 16; t += kWords) {
    const int8_t* from[kWords];
    for (uint32_t i = 0; i < kWords; ++i) from[i] = x + (t + i < rows ? t + i : rows - 1) * x_stride;
    int8_t* to = tokens + t * 4;
    uint32_t quad = 0;
    for (; quad + kWords <= quads; quad += kWords, to += kWords * 64) {
      Words v[kWords];
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kWords; ++i) memcpy(&v[i], from[i] + quad * 4, kRegister);
      transpose(v);
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kWords; ++i) memcpy(to + i * 64, &v[i], kRegister);
    }
    for (; quad < quads; ++quad, to += 64) {
      for (uint32_t i = 0; i < kWords; ++i) memcpy(to + i * 4, from[i] + quad * 4, 4);
    }
  }
}

/// f(r, sums) for each row r < rows, at most 16: found[0, 16)[r].
template <class F>
BANTAM_INLINE void for_rows_of(const int32_t (&found)[16][16], uint32_t rows, const F& f) {
  if constexpr (kWords == 16) {  // a panel fits the registers
    Words v[kWords];
    BANTAM_UNROLL_ALWAYS
    for (uint32_t o = 0; o < 16; ++o) memcpy(&v[o], found[o], kRegister);
    transpose(v);
    BANTAM_UNROLL_ALWAYS
    for (uint32_t r = 0; r < 16; ++r) {
      if (r >= rows) break;
      I32 sums;
      memcpy(&sums, &v[r], kRegister);
      f(r, sums);
    }
    return;
  }
  alignas(64) int32_t sums[16][16];
  for (uint32_t o = 0; o < 16; o += kWords) {
    for (uint32_t r = 0; r < 16; r += kWords) {
      Words v[kWords];
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kWords; ++i) memcpy(&v[i], &found[o + i][r], kRegister);
      transpose(v);
      BANTAM_UNROLL_ALWAYS
      for (uint32_t i = 0; i < kWords; ++i) memcpy(&sums[r + i][o], &v[i], kRegister);
    }
  }
  for (uint32_t r = 0; r < rows; ++r) f(r, load(sums[r]));
}

/// Four outputs at a time, which have as many blocks each: `steps` times one block of every one.
BANTAM_INLINE void dot_sparse_group(const int8_t* tokens, const int8_t* w, const uint16_t* index, uint32_t steps,
                                    RowSums (&sums)[4]) {
  for (; steps != 0; --steps, w += 16, index += 4) {
    const WeightQuads quads(w);
    uint64_t four;
    memcpy(&four, index, 8);
    sums[0].add<0>(quads, tokens + (four & 0xFFFF) * 64);
    sums[1].add<1>(quads, tokens + (four >> 16 & 0xFFFF) * 64);
    sums[2].add<2>(quads, tokens + (four >> 32 & 0xFFFF) * 64);
    sums[3].add<3>(quads, tokens + (four >> 48) * 64);
  }
}

/// found[o][r] = the sum of output o of a span and row r.
BANTAM_INLINE void dot_sparse_span(const LinearQ8& a, uint32_t first, uint32_t outputs, int32_t (*found)[16]) {
  const uint32_t* ends = a.sparse.ends + first / 4;
  uint32_t step = first == 0 ? 0 : ends[-1];
  const uint8_t* order = a.sparse.order + first;
  for (uint32_t group = 0; group < outputs / 4; ++group, order += 4) {
    RowSums acc[4];
    dot_sparse_group(a.scratch, a.w + size_t{step} * 16, a.sparse.index + size_t{step} * 4, ends[group] - step, acc);
    step = ends[group];
    BANTAM_UNROLL
    for (uint32_t j = 0; j < 4; ++j) store(found[order[j]], acc[j].get());
  }
}

/// Rows, at most 16, of a panel from its sums. `worst` is raised to what the largest y has of bits, if wanted.
template <bool kWorst>
BANTAM_INLINE void dequantize_panel(const LinearQ8& a, uint32_t column, const int32_t (&found)[16][16], I32& worst) {
  const I32 start = kOffsetInDots ? times_minus_128(load(a.w_sum + column)) : splat(int32_t{0});
  const F32 w_scale = load(a.w_scale + column);
  const F32 bias = a.bias != nullptr ? load(a.bias + column) : splat(0.0f);
  for_rows_of(
      found, a.rows, [&](uint32_t r, I32 sums) __attribute__((always_inline)) {
        const F32 v = dequantize(sums + start, splat(a.x_scale[r]), w_scale, bias);
        if constexpr (kWorst) worst = max(worst, magnitude_bits(v));
        store(a.y + r * a.y_stride + column, v);
      });
}

/// All rows, at most 16, of outputs [first, first + outputs), at most a span, before the activation. False when some y is not
/// finite, if wanted.
template <bool kWorst>
BANTAM_NOINLINE bool linear_sparse_span(const LinearQ8& a, uint32_t first, uint32_t outputs) {
  alignas(64) int32_t found[kSparseSpan / 16][16][16];
  dot_sparse_span(a, first, outputs, found[0]);
  I32 worst = splat(int32_t{0});
  for (uint32_t p = 0; p < outputs / 16; ++p) dequantize_panel<kWorst>(a, first + p * 16, found[p], worst);
  return !kWorst || largest(worst) < kInfinityBits;
}

/// Outputs that are activated at a time: few enough to lie in the first-level cache beside the inputs.
constexpr uint32_t kActivatedOutputs = 256;

/// At most 16 rows of all outputs.
BANTAM_INLINE bool linear_sparse_rows(const LinearQ8& a) {
  // Who activates looks for the largest itself.
  const bool plain = a.activation == Activation::kNone && a.row_maximum == nullptr;
  bool finite = true;
  for (uint32_t first = 0, begin = 0; first < a.n;) {
    const uint32_t outputs = a.n - first < kSparseSpan ? a.n - first : kSparseSpan;
    finite &= plain ? linear_sparse_span<true>(a, first, outputs) : linear_sparse_span<false>(a, first, outputs);
    first += outputs;
    if (plain || (first < a.n && first < begin + kActivatedOutputs)) continue;
    finite &= activate_block(a.activation, a.y + begin, a.y_stride, a.rows, (first - begin) / 16, a.row_maximum);
    begin = first;
  }
  return finite;
}

/// `a.row_maximum` are 0 where there are any.
inline bool linear_sparse(const LinearQ8& a) {
  bool finite = true;
  LinearQ8 block = a;
  for (uint32_t row = 0; row < a.rows; row += 16) {
    block.rows = a.rows - row < 16 ? a.rows - row : 16;
    block.x = a.x + row * a.x_stride;
    block.x_scale = a.x_scale + row;
    block.y = a.y + row * a.y_stride;
    if (a.row_maximum != nullptr) block.row_maximum = a.row_maximum + row * 16;
    rows_to_tokens(block.x, a.x_stride, block.rows, a.k / 4, a.scratch);
    finite &= linear_sparse_rows(block);
  }
  return finite;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_LINEAR_SPARSE_H_
