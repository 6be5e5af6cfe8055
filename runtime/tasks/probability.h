// Probabilities of single logits, without storing a whole row of them: p(x) = exp(x / temperature - max) / sum, the sum
// over 16 strided lanes and the fixed tree of kernels.h. exp and sigmoid are the kernels' own, through the table's
// activations, so that scores have the same bits on every machine.
#ifndef BANTAM_TASKS_PROBABILITY_H_
#define BANTAM_TASKS_PROBABILITY_H_

#include "bantam/session.h"
#include "kernels/kernels.h"
#include "tasks/select.h"
#include "text/unicode.h"

namespace bantam::tasks {

/// Maximum and sum of exponentials of a row of logits.
struct Softmax {
  float max = 0;
  float sum = 1;
  float temperature = 1;
};

class Probability {
 public:
  /// Every table gives the same bits. Without a session, the reference: asking which others the machine can run takes
  /// longer than a row of labels does (a virtual machine traps each cpuid).
  Probability();
  explicit Probability(const Session& session);
  explicit Probability(const kernels::Table& table) : table_(&table) {}

  /// exp(x): 0 below -87, infinite above 88.
  float exponential(float x) const { return activate(x, kernels::Activation::kExp); }
  /// 1 / (1 + exp(-x)).
  float sigmoid(float x) const { return activate(x, kernels::Activation::kSigmoid); }

  /// exp of block[0, count) in place, count <= kBlock.
  static constexpr uint32_t kBlock = text::kSmall ? 16 : 256;  // floats of stack; no sum depends on it
  void exponentials(float* block, uint32_t count) const { activate(block, count, kernels::Activation::kExp); }

  /// Over a row of at least one logit; temperature > 0 (1: none). O(n).
  Softmax softmax(const Logits& logits, float temperature) const;
  /// Probability of one logit of the row that `row` was made from.
  float of(const Softmax& row, float x) const { return exponential(x / row.temperature - row.max) / row.sum; }

 private:
  float activate(float x, kernels::Activation activation) const;
  void activate(float* block, uint32_t count, kernels::Activation activation) const;

  const kernels::Table* table_;
};

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_PROBABILITY_H_
