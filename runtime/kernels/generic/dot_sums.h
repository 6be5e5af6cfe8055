// Arguments of int8 dot products whose sums are in memory, for any number of rows and outputs.
#ifndef BANTAM_KERNELS_GENERIC_DOT_SUMS_H_
#define BANTAM_KERNELS_GENERIC_DOT_SUMS_H_

#include "kernels/generic/lanes.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// sums[r][16 * p + o] = the sum over k < 4 * quads of x[r][k] * w[p][o][k], added to the old value if `add`; exact.
/// The rows x, int8_t or uint8_t, are a separate argument: dot_block(x, block). x may be anything where its weights are
/// 0. `sums` must not overlap x or w.
struct DotBlock {
  size_t x_stride;
  uint32_t rows;
  const int8_t* w;      // panels of tiles [quads][16][4], 4-byte aligned
  size_t panel_stride;  // bytes
  uint32_t panels, quads;
  Sum* sums;
  size_t sums_stride;
  bool add;
};

/// sums[r][o] = the sum over k of x[r][k] * w[o][k], weights in rows of pad16(k) bytes (layout k16n1): dot_k16(block).
/// x is also read up to pad16(k).
struct DotRows {
  const int8_t* x;
  size_t x_stride;
  uint32_t rows;
  const int8_t* w;
  uint32_t k, outputs;  // outputs a multiple of 16
  Sum* sums;
  size_t sums_stride;
};

/// One output of sparse weights: for each row the sum over s < `steps` and i < 4 of x[r][4 * index[4 s] + i] * w[16 s +
/// i].
struct SparseOutput {
  const int8_t* w;
  const uint16_t* index;
  uint32_t steps;
  uint32_t output;
};

/// sums[r][o] = the sum over k of x[r][k] * w[o][k] for outputs of sparse weights, the first of which begins a span:
/// dot_sparse(block).
struct DotSparse {
  const int8_t* x;
  size_t x_stride;
  uint32_t rows;
  const int8_t* w;  // weights of the whole layer
  SparseBlocks sparse;
  uint32_t k, outputs;
  Sum* sums;
  size_t sums_stride;
  int8_t* scratch;  // sparse_scratch(k) bytes
};

/// Calls f(SparseOutput) for each of those outputs.
template <class F>
BANTAM_INLINE void for_sparse_outputs(const DotSparse& a, const F& f) {
  uint32_t step = a.sparse.begin;
  for (uint32_t group = 0; group < a.outputs / 4; ++group) {
    const uint32_t end = a.sparse.ends[group];
    const uint32_t span = group * 4 / kSparseSpan * kSparseSpan;
    for (uint32_t j = 0; j < 4; ++j) {
      const size_t block = size_t{step} * 4 + j;
      f(SparseOutput{a.w + block * 4, a.sparse.index + block, end - step, span + a.sparse.order[group * 4 + j]});
    }
    step = end;
  }
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_DOT_SUMS_H_
