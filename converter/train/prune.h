// Masks for pruning by magnitude while training.
#ifndef BANTAM_CONVERTER_TRAIN_PRUNE_H_
#define BANTAM_CONVERTER_TRAIN_PRUNE_H_

#include <torch/types.h>

#include "prune/prune.h"

namespace bantam::train {

/// 1 where a weight of `weight` [N, K] stays, 0 where convert::prune_matrix sets it to 0.
at::Tensor magnitude_mask(const at::Tensor& weight, convert::PrunePattern pattern, double sparsity);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_PRUNE_H_
