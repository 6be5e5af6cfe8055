// The order of an epoch: which examples go through the network together.
#ifndef BANTAM_CONVERTER_TRAIN_BATCHES_H_
#define BANTAM_CONVERTER_TRAIN_BATCHES_H_

#include <cstdint>
#include <vector>

namespace bantam::train {

/// Every example once: shuffled, then sorted by `lengths` within pools of 32 batches so that little is padded, then the
/// batches shuffled. A function of its arguments alone, so that a run can be resumed in the middle of an epoch.
std::vector<std::vector<uint32_t>> epoch_batches(const std::vector<uint32_t>& lengths, uint32_t batch, uint64_t seed,
                                                 uint32_t epoch);

/// The same without chance, sorted by length: for evaluation.
std::vector<std::vector<uint32_t>> sorted_batches(const std::vector<uint32_t>& lengths, uint32_t batch);

/// Factor of the learning rate at `step` of `steps`: rises over the first `warmup` of them, then falls to 0, both linearly.
double rate_at(uint64_t step, uint64_t steps, double warmup);

/// Zeros at `done` (fraction of all steps): 0 until `begin`, `last` from `end`, between them the cubic of Zhu and Gupta
/// (arXiv 1710.01878), steep first, when most weights can go.
double sparsity_at(double done, double begin, double end, double last);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_BATCHES_H_
