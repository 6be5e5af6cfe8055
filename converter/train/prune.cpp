#include "train/prune.h"

namespace bantam::train {

at::Tensor magnitude_mask(const at::Tensor& weight, convert::PrunePattern pattern, double sparsity) {
  const at::NoGradGuard guard;
  // Of the magnitudes plus the least number, so that a weight that is 0 by chance stays trainable where its block stays.
  const at::Tensor left = weight.detach().abs().add(1e-30).to(at::kFloat).contiguous().clone();
  convert::prune_matrix(left.data_ptr<float>(), static_cast<size_t>(left.size(0)), static_cast<size_t>(left.size(1)),
                        pattern, sparsity);
  return left.ne(0).to(at::kFloat);
}

}  // namespace bantam::train
