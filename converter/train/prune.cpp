#include "train/prune.h"

namespace bantam::train {

std::vector<at::Tensor> masks_of(const std::vector<at::Tensor>& scores, convert::PrunePattern pattern, double sparsity,
                                 convert::PruneScope scope) {
  const at::NoGradGuard guard;
  std::vector<at::Tensor> left;
  std::vector<convert::PrunedMatrix> matrices;
  for (const at::Tensor& score : scores) {
    // Adding a tiny number lets a weight that happens to be 0 stay trainable if its block stays.
    left.push_back(score.detach().to(at::kFloat).abs().add(1e-30).contiguous());
    matrices.push_back(
        {left.back().data_ptr<float>(), static_cast<size_t>(score.size(0)), static_cast<size_t>(score.size(1))});
  }
  convert::prune_matrices(matrices, pattern, sparsity, scope);
  for (at::Tensor& values : left) values = values.ne(0).to(at::kFloat);
  return left;
}

}  // namespace bantam::train
