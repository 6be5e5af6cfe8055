// Masks for pruning by magnitude while training.
#ifndef BANTAM_CONVERTER_TRAIN_PRUNE_H_
#define BANTAM_CONVERTER_TRAIN_PRUNE_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace bantam::train {

/// Which weights go together: blocks of `rows` outputs by `columns` inputs, or the `keep` largest of every `columns` inputs.
struct Pattern {
  uint32_t rows = 1, columns = 1;
  uint32_t keep = 0;  // 0: blocks
};

/// "unstructured", "ROWSxCOLUMNS" such as 1x4 and 4x16, or "2:4". Throws Error (usage) for another word.
Pattern parse_pattern(const std::string& name);

/// 1 where a weight of `weight` [N, K] stays, 0 where it goes: the blocks with the least sum of magnitudes, as many as make
/// `sparsity` of all (rounded down). Blocks at the edges may be smaller. Ties: the earlier block goes.
at::Tensor magnitude_mask(const at::Tensor& weight, const Pattern& pattern, double sparsity);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_PRUNE_H_
