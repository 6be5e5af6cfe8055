// Objective: the loss of a batch, from labels and from the teacher.
#ifndef BANTAM_CONVERTER_TRAIN_OBJECTIVE_H_
#define BANTAM_CONVERTER_TRAIN_OBJECTIVE_H_

#include <torch/types.h>

#include <utility>
#include <vector>

#include "train/losses.h"
#include "train/network.h"
#include "train/trainer.h"

namespace bantam::train {

class Objective {
 public:
  /// All arguments must outlive the object; `teacher` is null without one. Throws Error (usage) if the two do not fit.
  Objective(const Job& job, const Network& student, const Network* teacher);

  /// Learned projections of hidden states, which are trained with the student and then dropped.
  const std::vector<at::Tensor>& projections() const { return projections_; }

  /// Computes the softened targets of all examples, `batch` at a time.
  void ask_teacher(uint32_t batch);

  struct Losses {
    at::Tensor total;
    Named parts;  // "loss" (the total), then each part that is used, before weighting
  };
  Losses compute(const std::vector<uint32_t>& members, const ForwardOptions& options) const;

 private:
  struct Batch;
  using Parts = std::vector<std::pair<double, std::pair<const char*, at::Tensor>>>;  // weight, name, loss
  at::Tensor hard(const Batch& batch) const;
  at::Tensor soft(const Batch& batch) const;
  void inside(const Batch& batch, Parts* parts) const;
  Losses of_next_words(const std::vector<uint32_t>& members, const ForwardOptions& options) const;
  static Losses sum_of(const Parts& parts);

  const Job& job_;
  const Network& student_;
  const Network* teacher_;
  std::vector<std::pair<uint32_t, uint32_t>> layers_;  // (student layer, teacher layer); 0: the embeddings
  uint32_t relation_heads_ = 0;
  std::vector<at::Tensor> projections_;  // in the order of layers_, for hidden states of different widths
  std::vector<Logits> targets_;
};

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_OBJECTIVE_H_
