// Masks for pruning while training.
#ifndef BANTAM_CONVERTER_TRAIN_PRUNE_H_
#define BANTAM_CONVERTER_TRAIN_PRUNE_H_

#include <torch/types.h>

#include <vector>

#include "prune/prune.h"

namespace bantam::train {

/// For each matrix [N, K] of `scores` (magnitudes, times what they count), 1 where a weight stays, 0 where
/// convert::prune_matrices takes it.
std::vector<at::Tensor> masks_of(const std::vector<at::Tensor>& scores, convert::PrunePattern pattern, double sparsity,
                                 convert::PruneScope scope);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_PRUNE_H_
