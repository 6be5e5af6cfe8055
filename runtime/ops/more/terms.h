// Term weights: for each column of a layer's scores, the maximum or sum over a sequence's rows of a slowly growing
// function. The layer is the one over the vocabulary, so the scores of all tokens would need hundreds of times the
// memory of a sequence's weights: they are computed for some columns and rows at a time, and folded (SPLADE, arXiv
// 2107.05720).
#ifndef BANTAM_OPS_MORE_TERMS_H_
#define BANTAM_OPS_MORE_TERMS_H_

#include "ops/ops.h"

namespace bantam::ops {

inline bool makes_terms(const fb::Linear& layer) { return linked::kTerms && layer.saturations() != 0; }

/// Checks the rest of Linear's rule for such a layer, besides its weights and bias: `inputs` columns of tokens, i8 if
/// `q8` is true; no epilogue.
Verdict check_terms(const Site& site, uint32_t inputs, bool q8);

/// Bytes of one thread's scratch: the scores of a block, and the kernel's scratch for these weights.
uint64_t terms_scratch(const fb::Tensor& weights, uint32_t rows);

Status run_terms(const TileRun& run, const fb::Op& op);

}  // namespace bantam::ops

#endif  // BANTAM_OPS_MORE_TERMS_H_
