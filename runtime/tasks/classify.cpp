// Whole-text labels: softmax, sigmoid, regression; multiple choice; next sentence.
#include "bantam/tasks.h"
#include "tasks/labels.h"
#include "tasks/probability.h"
#include "tasks/select.h"

namespace bantam {
namespace {

/// Tasks with one row of logits a text; where there are masks as well, next_sentence() alone reads it.
constexpr uint32_t kRowTasks =
    tasks_with(kLabelsPart) | (tasks_with(kFollowsPart) & ~tasks_with(kMasksPart | kLabelsPart));
constexpr uint32_t kRegressions = tasks_with(kLabelsPart) & tasks_scored(kUnscored);
constexpr uint32_t kSeveralLabels = tasks_with(kLabelsPart) & tasks_scored(kSigmoids);

bool has_labels(TaskKind kind) { return one_of(kRowTasks, kind); }

uint32_t regress(const tasks::Logits& values, LabelScore* out, uint32_t capacity) {
  const uint32_t count = values.n < capacity ? values.n : capacity;
  for (uint32_t i = 0; i < count; ++i) out[i] = {i, values[i]};
  return count;
}

// Both below: out[] holds logits in `score` while selecting, so that ties are judged before rounding to probabilities.
uint32_t multi_label(const fb::LabelSet& set, const tasks::Logits& logits, LabelScore* out, uint32_t capacity,
                     uint32_t* above) {
  const tasks::Probability math;
  const uint32_t count = tasks::select_best<uint32_t>(logits, out, capacity);
  for (uint32_t i = 0; i < count; ++i) out[i].score = math.sigmoid(out[i].score / set.temperature());
  uint32_t over = 0;
  for (uint32_t i = 0; i < logits.n; ++i) {
    over += math.sigmoid(logits[i] / set.temperature()) > set.threshold() ? 1u : 0u;
  }
  *above = over;
  return count;
}

uint32_t single_label(float temperature, float reject_below, const tasks::Logits& logits, LabelScore* out,
                      uint32_t capacity, uint32_t* above) {
  const tasks::Probability math;
  const tasks::Softmax row = math.softmax(logits, temperature);
  const uint32_t count = tasks::select_best<uint32_t>(logits, out, capacity);
  for (uint32_t i = 0; i < count; ++i) out[i].score = math.of(row, out[i].score);
  // The largest probability of a row is that of its maximum: 1 / sum.
  *above = 1.0f / row.sum >= reject_below ? 1u : 0u;
  return count;
}

}  // namespace

Status classify_logits(const Model& model, const float* logits, uint32_t width, LabelScore* out, uint32_t capacity,
                       uint32_t* count, uint32_t* above) {
  if (!has_labels(model.task())) return Status::kNoSuchTask;
  if (logits == nullptr || width == 0 || count == nullptr || (capacity > 0 && out == nullptr)) {
    return Status::kInvalidArgument;
  }
  const fb::LabelSet* set = tasks::label_set(model, 0);
  const tasks::Logits row{logits, 1, width};
  uint32_t holds = 1;
  if (one_of(kRegressions, model.task())) {
    *count = regress(row, out, capacity);
    holds = width;
  } else if (set != nullptr && one_of(kSeveralLabels, model.task())) {
    *count = multi_label(*set, row, out, capacity, &holds);
  } else {
    *count = single_label(set != nullptr ? set->temperature() : 1.0f, set != nullptr ? set->reject_below() : 0.0f, row,
                          out, capacity, &holds);
  }
  if (above != nullptr) *above = holds;
  return Status::kOk;
}

Status label_logits(const Session& session, uint32_t sequence, const float** out, uint32_t* width) {
  if (!has_labels(session.model().task())) return Status::kNoSuchTask;
  if (out == nullptr || width == nullptr) return Status::kInvalidArgument;
  OutputView view;
  const Head& head = has_part(session.model().task(), kLabelsPart) ? kLabelHead : kNextHead;
  const Status status = tasks::head_output(session, head, sequence, &view);
  if (status != Status::kOk) return status;
  *out = view.data;
  *width = view.width;
  return Status::kOk;
}

Status classify(const Session& session, uint32_t sequence, LabelScore* out, uint32_t capacity, uint32_t* count,
                uint32_t* above) {
  const float* logits = nullptr;
  uint32_t width = 0;
  const Status status = label_logits(session, sequence, &logits, &width);
  if (status != Status::kOk) return status;
  return classify_logits(session.model(), logits, width, out, capacity, count, above);
}

Status choose(const Session& session, uint32_t first, uint32_t choices, LabelScore* out, uint32_t capacity,
              uint32_t* count) {
  if (!has_part(session.model().task(), kChoicePart)) return Status::kNoSuchTask;
  if (choices == 0 || count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  OutputView view;
  const Status status = tasks::head_output(session, kChoiceHead, &view);
  if (status != Status::kOk) return status;
  if (first >= view.rows || choices > view.rows - first) return Status::kIndexOutOfRange;
  // One logit a sequence, `stride` floats apart.
  const tasks::Logits row{view.data + first * view.stride, view.stride, choices};
  const tasks::Probability math(session);
  const tasks::Softmax softmax = math.softmax(row, 1.0f);
  *count = tasks::select_best<uint32_t>(row, out, capacity);
  for (uint32_t i = 0; i < *count; ++i) out[i].score = math.of(softmax, out[i].score);
  return Status::kOk;
}

Status next_sentence(const Session& session, uint32_t sequence, float* probability) {
  if (!has_part(session.model().task(), kFollowsPart)) return Status::kNoSuchTask;
  if (probability == nullptr) return Status::kInvalidArgument;
  OutputView view;
  const Status status = tasks::head_output(session, kNextHead, sequence, &view);
  if (status != Status::kOk) return status;
  const tasks::Probability math(session);
  *probability = math.of(math.softmax({view.data, 1, view.width}, 1.0f), view.data[0]);
  return Status::kOk;
}

}  // namespace bantam
