// Weights of terms: of each column of a layer's scores the largest of a sequence's rows, or their sum, after a function that grows slowly.
// The layer is that over the vocabulary, so scores of all tokens would take hundreds of times as much memory as a sequence's weights do:
// they are made some columns and rows at a time, and folded (SPLADE, arXiv 2107.05720).
#ifndef BANTAM_OPS_MORE_TERMS_H_
#define BANTAM_OPS_MORE_TERMS_H_

#include "ops/ops.h"

namespace bantam::ops {

inline bool makes_terms(const fb::Linear& layer) { return linked::kTerms && layer.saturations() != 0; }

/// Checks the rest of Linear's rule for such a layer, beside its weights and bias: `inputs` columns of tokens, i8 where
/// `q8` is true; no epilogue.
Verdict check_terms(const Site& site, uint32_t inputs, bool q8);

/// Bytes of scratch of one thread: the scores of a block, and the kernel's scratch for these weights.
uint64_t terms_scratch(const fb::Tensor& weights, uint32_t rows);

Status run_terms(const TileRun& run, const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_TERMS_H_
