// Whole-text labels: softmax, sigmoid, regression; multiple choice; next sentence.
#include "bantam/tasks.h"
#include "linked.h"
#include "tasks/label_tree.h"
#include "tasks/labels.h"
#include "tasks/probability.h"
#include "tasks/select.h"

#if BANTAM_IF_LINKED(part_Labels) || BANTAM_IF_LINKED(part_Choice) || BANTAM_IF_LINKED(part_Follows) || \
    BANTAM_IF_LINKED(FurtherSets) || BANTAM_IF_LINKED(Parents)

namespace bantam {
namespace {

/// Tasks with one row of logits per text; if the task also has masks, only next_sentence() reads that row.
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

// In the next two functions, out[].score holds logits during selection, so that ties are decided before probabilities
// are rounded.
template <typename Row>
uint32_t multi_label(const fb::LabelSet& set, const Row& logits, LabelScore* out, uint32_t capacity, uint32_t* above) {
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

/// Selects one label per level from the top, each the best child of the one before it: Redmon and Farhadi, "YOLO9000",
/// 2017, section 4. O(labels * levels).
uint32_t best_path(const fb::LabelSet& set, const tasks::Parents& parents, const tasks::Logits& logits, LabelScore* out,
                   uint32_t capacity, uint32_t* above) {
  const tasks::Probability math;
  uint32_t length = 0;
  uint32_t holds = 0;
  float score = 1.0f;
  for (int32_t under = -1;;) {
    const tasks::Siblings row{logits, &parents, under};
    LabelScore best;
    tasks::select_best<uint32_t>(row, &best, 1);
    if (!row.has(best.label)) break;
    score *= math.of(math.softmax_of(row, set.temperature()), best.score);
    if (length < capacity) out[length++] = {best.label, score};
    holds += score >= set.reject_below() ? 1u : 0u;
    under = static_cast<int32_t>(best.label);
  }
  *above = holds;
  return length;
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
                       uint32_t* count, uint32_t* above, uint32_t number) {
  if (!has_labels(model.task())) return Status::kNoSuchTask;
  if (logits == nullptr || width == 0 || count == nullptr || (capacity > 0 && out == nullptr)) {
    return Status::kInvalidArgument;
  }
  const fb::LabelSet* set = tasks::label_set(model, number);
  const tasks::Parents* parents = set != nullptr ? tasks::parents_of(*set) : nullptr;
  if (parents != nullptr && parents->size() != width) return Status::kInvalidArgument;
  const tasks::Logits row{logits, 1, width};
  uint32_t holds = 1;
  if (one_of(kRegressions, model.task())) {
    *count = regress(row, out, capacity);
    holds = width;
  } else if (set != nullptr && one_of(kSeveralLabels, model.task())) {
    *count = parents != nullptr ? multi_label(*set, tasks::Bounded{row, parents}, out, capacity, &holds)
                                : multi_label(*set, row, out, capacity, &holds);
  } else if (parents != nullptr) {
    *count = best_path(*set, *parents, row, out, capacity, &holds);
  } else {
    *count = single_label(set != nullptr ? set->temperature() : 1.0f, set != nullptr ? set->reject_below() : 0.0f, row,
                          out, capacity, &holds);
  }
  if (above != nullptr) *above = holds;
  return Status::kOk;
}

Status label_logits(const Session& session, uint32_t sequence, const float** out, uint32_t* width, uint32_t set) {
  const Model& model = session.model();
  if (!has_labels(model.task())) return Status::kNoSuchTask;
  if (out == nullptr || width == nullptr) return Status::kInvalidArgument;
  if (set != 0 && !tasks::is_further(model, set)) return Status::kNoSuchTask;
  OutputView view;
  const Head head = set != 0                              ? further_head(set, kSequences)
                    : has_part(model.task(), kLabelsPart) ? kLabelHead
                                                          : kNextHead;
  const Status status = tasks::head_output(session, head, sequence, &view);
  if (status != Status::kOk) return status;
  *out = view.data;
  *width = view.width;
  return Status::kOk;
}

Status classify(const Session& session, uint32_t sequence, LabelScore* out, uint32_t capacity, uint32_t* count,
                uint32_t* above, uint32_t set) {
  const float* logits = nullptr;
  uint32_t width = 0;
  const Status status = label_logits(session, sequence, &logits, &width, set);
  if (status != Status::kOk) return status;
  return classify_logits(session.model(), logits, width, out, capacity, count, above, set);
}

Status choose(const Session& session, uint32_t first, uint32_t choices, LabelScore* out, uint32_t capacity,
              uint32_t* count) {
  if (!has_part(session.model().task(), kChoicePart)) return Status::kNoSuchTask;
  if (choices == 0 || count == nullptr || (capacity > 0 && out == nullptr)) return Status::kInvalidArgument;
  OutputView view;
  const Status status = tasks::head_output(session, kChoiceHead, &view);
  if (status != Status::kOk) return status;
  if (first >= view.rows || choices > view.rows - first) return Status::kIndexOutOfRange;
  // One logit per sequence, `stride` floats apart.
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

#endif  // BANTAM_IF_LINKED(part_Labels) || ...
