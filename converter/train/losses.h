// The parts of the loss. Each is a mean over what it compares, so that weights do not depend on the batch.
#ifndef BANTAM_CONVERTER_TRAIN_LOSSES_H_
#define BANTAM_CONVERTER_TRAIN_LOSSES_H_

#include <torch/types.h>

#include <cstdint>

#include "train/network.h"

namespace bantam::train {

/// temperature^2 * KL(teacher || student) of softened logits [n, classes], mean over n (Hinton et al., arXiv 1503.02531).
at::Tensor soft_loss(const at::Tensor& student, const at::Tensor& teacher, double temperature);

/// The same for independent labels: binary cross-entropy with the teacher's softened probabilities, minus its minimum.
at::Tensor soft_binary_loss(const at::Tensor& student, const at::Tensor& teacher, double temperature);

/// Rows of student and teacher that stand for the same piece of text: i64 [B, A] each, and which of them are there.
struct Anchors {
  at::Tensor student, teacher, mask;
};
Anchors align(const std::vector<const Encoded*>& student, const std::vector<const Encoded*>& teacher);

/// Mean squared error between hidden states [B, T, n] at the anchors. `projection` [teacher width, student width], undefined:
/// none.
at::Tensor hidden_loss(const at::Tensor& student, const at::Tensor& teacher, const Anchors& anchors,
                       const at::Tensor& projection);

/// KL between attention probabilities of the anchors among themselves, made to sum to 1 there; heads in order. The counts of
/// heads must be equal.
at::Tensor attention_loss(const AttentionState& student, const AttentionState& teacher, const Anchors& anchors);

/// MiniLMv2 (arXiv 2012.15828): KL between softmax(x xt / sqrt(width)) for x = queries, keys, values, each cut into `heads`
/// relation heads, among the anchors; mean of the three.
at::Tensor relation_loss(const AttentionState& student, const AttentionState& teacher, const Anchors& anchors,
                         int64_t heads);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_LOSSES_H_
