// Masks for pruning while training.
#ifndef BANTAM_CONVERTER_TRAIN_PRUNE_H_
#define BANTAM_CONVERTER_TRAIN_PRUNE_H_

#include <torch/types.h>

#include <vector>

#include "prune/prune.h"

namespace bantam::train {

/// Returns, for each matrix [N, K] of `scores` (magnitudes, possibly weighted), 1 for weights that stay and 0 for
/// weights that convert::prune_matrices removes.
std::vector<at::Tensor> masks_of(const std::vector<at::Tensor>& scores, convert::PrunePattern pattern, double sparsity,
                                 convert::PruneScope scope);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_PRUNE_H_
