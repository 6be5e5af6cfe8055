// The teacher's outputs: softened targets for every example, computed once before training.
#ifndef BANTAM_CONVERTER_TRAIN_TEACHER_H_
#define BANTAM_CONVERTER_TRAIN_TEACHER_H_

#include <vector>

#include "train/network.h"
#include "train/trainer.h"

namespace bantam::train {

/// Returns the logits of `network` for the student (or teacher) side of the examples, in their order. Runs batches of
/// `batch` examples sorted by length, so that the bits are the same however often a run was interrupted. Words without
/// a row have no logits.
std::vector<Logits> answers(const Network& network, const std::vector<Example>& examples, bool teacher,
                            const Heads& heads, const ForwardOptions& options, uint32_t batch,
                            const std::function<void(uint64_t, uint64_t)>& progress);

/// Reorders columns: the student's label i becomes the teacher's labels[i]; the same for tags.
void reorder(const std::vector<uint32_t>& labels, const std::vector<uint32_t>& tags, std::vector<Logits>* all);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_TEACHER_H_
