// Probabilities of single logits, without storing a whole row of them: p(x) = exp(x / temperature - max) / sum, where
// the sum uses 16 strided lanes and the fixed reduction tree of kernels.h. exp and sigmoid are the kernels' own, called
// through the table's activations, so that scores have the same bits on every machine.
#ifndef BANTAM_TASKS_PROBABILITY_H_
#define BANTAM_TASKS_PROBABILITY_H_

#include "bantam/session.h"
#include "kernels/kernels.h"
#include "tasks/select.h"
#include "text/unicode/unicode.h"

namespace bantam::tasks {

/// Maximum of a row of logits and the sum of its exponentials.
struct Softmax {
  float max = 0;
  float sum = 1;
  float temperature = 1;
};

class Probability {
 public:
  /// All tables compute the same bits. Without a session it uses the reference table: detecting what the machine
  /// supports takes longer than a row of labels (a virtual machine traps each cpuid).
  Probability();
  explicit Probability(const Session& session);
  explicit Probability(const kernels::Table& table) : table_(&table) {}

  /// exp(x): 0 below -87, infinite above 88.
  float exponential(float x) const { return activate(x, kernels::Activation::kExp); }
  /// 1 / (1 + exp(-x)).
  float sigmoid(float x) const { return activate(x, kernels::Activation::kSigmoid); }

  /// Replaces block[0, count) by its exponentials, count <= kBlock.
  static constexpr uint32_t kBlock = text::kSmall ? 16 : 256;  // floats on the stack; results do not depend on it
  void exponentials(float* block, uint32_t count) const { activate(block, count, kernels::Activation::kExp); }

  /// Prepares a softmax over a row of at least one logit; temperature > 0 (1: no effect). O(n).
  Softmax softmax(const Logits& logits, float temperature) const;
  /// Prepares a softmax over another kind of row.
  template <typename Row>
  Softmax softmax_of(const Row& logits, float temperature) const;
  /// Probability of one logit of the row from which `row` was computed.
  float of(const Softmax& row, float x) const { return exponential(x / row.temperature - row.max) / row.sum; }

 private:
  static constexpr uint32_t kLanes = 16;

  float activate(float x, kernels::Activation activation) const;
  void activate(float* block, uint32_t count, kernels::Activation activation) const;

  const kernels::Table* table_;
};

template <typename Row>
Softmax Probability::softmax_of(const Row& logits, float temperature) const {
  Softmax row;
  row.temperature = temperature;
  // Rounding preserves order: the largest quotient belongs to the largest logit.
  float largest = logits[0];
  for (uint32_t i = 1; i < logits.n; ++i) largest = logits[i] > largest ? logits[i] : largest;
  row.max = largest / temperature;
  float lanes[kLanes] = {};
  alignas(64) float block[kBlock];
  for (uint32_t begin = 0; begin < logits.n; begin += kBlock) {
    const uint32_t count = logits.n - begin < kBlock ? logits.n - begin : kBlock;
    for (uint32_t i = 0; i < count; ++i) block[i] = logits[begin + i] / temperature - row.max;
    exponentials(block, count);
    for (uint32_t i = 0; i < count; ++i) lanes[i % kLanes] += block[i];
  }
  // Adds lanes l and l + 8, then l and l + 4, l + 2, l + 1: the reduction tree of kernels.h.
  for (uint32_t half = kLanes / 2; half > 0; half /= 2) {
    for (uint32_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  row.sum = lanes[0];
  return row;
}

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_PROBABILITY_H_
