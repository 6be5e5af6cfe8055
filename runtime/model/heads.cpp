#include "model/heads.h"

namespace bantam {
namespace {

const fb::Tensor& output_tensor(const fb::Model& model, uint32_t output) {
  return tensor(model, model.outputs()->Get(output)->tensor());
}

Verdict check_head(const fb::Model& model, const Head& head) {
  const int32_t output = find_head(model, head);
  if (output < 0 || fits(head, output_tensor(model, static_cast<uint32_t>(output)))) return {};
  return corrupt("the task reads an output of other rows or another width than it has",
                 model.outputs()->Get(static_cast<uint32_t>(output))->tensor());
}

/// Checks the heads that `task` reads. Skips heads of tasks that are not linked: nothing reads their outputs, and an
/// image contains no code for them.
template <const Head&... kHeads>
Verdict check_each(const fb::Model& model, uint32_t task) {
  Verdict verdict;
  const auto holds = [&](const Head& head) {
    if ((head.tasks & task) != 0) verdict = check_head(model, head);
    return verdict.ok();
  };
  (void)(((kHeads.tasks & linked::kTasks) == 0 || holds(kHeads)) && ...);
  return verdict;
}

}  // namespace

int32_t find_head(const fb::Model& model, const Head& head, uint32_t which) {
  const fb::Task* task = model.task();
  if (head.set >= 0 && task != nullptr && static_cast<uint32_t>(head.set) < count(task->label_sets())) {
    const uint32_t output = task->label_sets()->Get(static_cast<uint32_t>(head.set))->output();
    return output < count(model.outputs()) ? static_cast<int32_t>(output) : -1;
  }
  for (uint32_t i = 0; i < count(model.outputs()); ++i) {
    if (model.outputs()->Get(i)->role() == head.role && which-- == 0) return static_cast<int32_t>(i);
  }
  return -1;
}

Verdict check_heads(const fb::Model& model, fb::TaskKind task) {
  return check_each<kLabelHead, kTagHead, kSlotHead, kStartHead, kEndHead, kUnanswerableHead, kChoiceHead, kFillHead,
                    kNextHead, kEmbeddingHead, kTokenVectorHead, kNextWordHead, kFoundHead>(model, task_bit(task));
}

}  // namespace bantam
