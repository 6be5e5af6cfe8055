#include "tasks/probability.h"

#include "kernels/kernels.h"
#include "linked.h"
#include "session/state.h"

namespace bantam::tasks {
// All tables compute the same bits: the reference table on hosts needs no cpuid, and an image has only one table.
Probability::Probability()
    : Probability(*kernels::table(linked::kHost && linked::kReference ? Isa::kReference : Isa::kAuto)) {}
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
  // A non-finite value (exp above 88) is stored, too, as callers expect.
  static_cast<void>(table_->epilogue_rows(rows));
}

float Probability::activate(float x, kernels::Activation activation) const {
  alignas(64) float block[kLanes] = {x};
  activate(block, 1, activation);
  return block[0];
}

Softmax Probability::softmax(const Logits& logits, float temperature) const { return softmax_of(logits, temperature); }

}  // namespace bantam::tasks
