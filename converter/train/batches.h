// The order of an epoch: which examples form each batch.
#ifndef BANTAM_CONVERTER_TRAIN_BATCHES_H_
#define BANTAM_CONVERTER_TRAIN_BATCHES_H_

#include <cstdint>
#include <vector>

namespace bantam::train {

/// Returns batches that contain every example once: shuffled, then sorted by `lengths` within pools of 32 batches to
/// reduce padding, then with the batches shuffled. The result depends only on the arguments, so that a run can be
/// resumed within an epoch.
std::vector<std::vector<uint32_t>> epoch_batches(const std::vector<uint32_t>& lengths, uint32_t batch, uint64_t seed,
                                                 uint32_t epoch);

/// Returns batches sorted by length, without randomness, for evaluation.
std::vector<std::vector<uint32_t>> sorted_batches(const std::vector<uint32_t>& lengths, uint32_t batch);

/// Returns the factor of the learning rate at `step` of `steps`: it rises linearly over the fraction `warmup` of the
/// steps, then falls linearly to 0.
double rate_at(uint64_t step, uint64_t steps, double warmup);

/// Returns the sparsity at `done` (fraction of all steps): 0 until `begin`, `last` from `end` on, and between them the
/// cubic of Zhu and Gupta (arXiv 1710.01878), which is steep first, when most weights can be removed.
double sparsity_at(double done, double begin, double end, double last);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_BATCHES_H_
