// The parts of the loss. Each is a mean over the compared values, so that weights do not depend on the batch.
#ifndef BANTAM_CONVERTER_TRAIN_LOSSES_H_
#define BANTAM_CONVERTER_TRAIN_LOSSES_H_

#include <torch/types.h>

#include <cstdint>

#include "train/network.h"

namespace bantam::train {

/// temperature^2 * KL(teacher || student) of softened logits [n, classes], as a mean over n (Hinton et al., arXiv
/// 1503.02531).
at::Tensor soft_loss(const at::Tensor& student, const at::Tensor& teacher, double temperature);

/// The same for independent labels: binary cross-entropy with the teacher's softened probabilities, minus its minimum.
at::Tensor soft_binary_loss(const at::Tensor& student, const at::Tensor& teacher, double temperature);

/// Rows of student and teacher that represent the same piece of text: i64 [B, A] each, and a mask of those that exist.
struct Anchors {
  at::Tensor student, teacher, mask;
};
Anchors align(const std::vector<const Encoded*>& student, const std::vector<const Encoded*>& teacher);

/// Mean squared error between hidden states [B, T, n] at the anchors. `projection` is [teacher width, student width],
/// or undefined for none.
at::Tensor hidden_loss(const at::Tensor& student, const at::Tensor& teacher, const Anchors& anchors,
                       const at::Tensor& projection);

/// KL divergence between the attention probabilities among the anchors, normalized to sum to 1 there; head i is
/// compared with head i. Both must have the same number of heads.
at::Tensor attention_loss(const AttentionState& student, const AttentionState& teacher, const Anchors& anchors);

/// MiniLMv2 (arXiv 2012.15828): KL divergence between softmax(x xt / sqrt(width)) among the anchors, for x = queries,
/// keys, values, each split into `heads` relation heads; mean of the three.
at::Tensor relation_loss(const AttentionState& student, const AttentionState& teacher, const Anchors& anchors,
                         int64_t heads);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_LOSSES_H_
