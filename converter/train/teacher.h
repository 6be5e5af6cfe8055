// The teacher's answers: softened targets for every example, computed once before training.
#ifndef BANTAM_CONVERTER_TRAIN_TEACHER_H_
#define BANTAM_CONVERTER_TRAIN_TEACHER_H_

#include <vector>

#include "train/network.h"
#include "train/trainer.h"

namespace bantam::train {

/// Logits of `network` for the examples' student (or teacher) side, in the order of the examples, in batches of `batch` by
/// length: the same bits however often a run was interrupted. Words without a row get none.
std::vector<Logits> answers(const Network& network, const std::vector<Example>& examples, bool teacher,
                            const Heads& heads, const ForwardOptions& options, uint32_t batch,
                            const std::function<void(uint64_t, uint64_t)>& progress);

/// Reorders columns: the student's label i is the teacher's labels[i]; the same for tags.
void reorder(const std::vector<uint32_t>& labels, const std::vector<uint32_t>& tags, std::vector<Logits>* all);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_TEACHER_H_
