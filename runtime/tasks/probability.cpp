#include "tasks/probability.h"

#include "kernels/kernels.h"
#include "linked.h"
#include "session/state.h"

namespace bantam::tasks {
namespace {

constexpr uint32_t kLanes = 16;

/// Lanes l and l + 8, then l and l + 4, l + 2, l + 1: the tree of kernels.h.
float tree_sum(float* lanes) {
  for (uint32_t half = kLanes / 2; half > 0; half /= 2) {
    for (uint32_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

}  // namespace

// Any table has the same bits: a host's reference needs no cpuid, an image has one table only.
Probability::Probability() : Probability(*kernels::table(linked::kHost ? Isa::kReference : Isa::kAuto)) {}
Probability::Probability(const Session& session) : Probability(state(&session).kernels) {}

void Probability::activate(float* block, uint32_t count, kernels::Activation activation) const {
  kernels::EpilogueRows rows = {};
  rows.x = block;
  rows.x_stride = kernels::pad16(count);
  rows.rows = 1;
  rows.width = count;
  rows.activation = activation;
  rows.y = block;
  rows.y_stride = rows.x_stride;
  // A non-finite value (exp above 88) is stored all the same, which is what callers want.
  static_cast<void>(table_->epilogue_rows(rows));
}

float Probability::activate(float x, kernels::Activation activation) const {
  alignas(64) float block[kLanes] = {x};
  activate(block, 1, activation);
  return block[0];
}

Softmax Probability::softmax(const Logits& logits, float temperature) const {
  Softmax row;
  row.temperature = temperature;
  // Rounding keeps the order: the largest quotient is that of the largest logit.
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
  row.sum = tree_sum(lanes);
  return row;
}

}  // namespace bantam::tasks
