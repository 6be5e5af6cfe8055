// Traits of tasks: the parts of an answer, and how scores are computed. Code asks for a part, not for a task, so that a
// new combination of parts is only a row in tasks.inc.
#ifndef BANTAM_MODEL_TASK_TRAITS_H_
#define BANTAM_MODEL_TASK_TRAITS_H_

#include <stdint.h>

#include "bantam/model.h"
#include "bantam_generated.h"
#include "linked.h"

namespace bantam {

/// The parts of an answer, as bits.
enum Part : uint32_t {
  kLabelsPart = 1u << 0,  // labels of the text, or of a pair: label set 0
  // A label of each word of the text (not of a second one), joined to entities; its label set follows kLabelsPart's.
  kWordsPart = 1u << 1,
  kSpanPart = 1u << 2,          // a span of the second text that answers the first
  kMasksPart = 1u << 3,         // tokens for each mask of the text
  kVectorPart = 1u << 4,        // an embedding of the text
  kChoicePart = 1u << 5,        // one of several second texts
  kFollowsPart = 1u << 6,       // whether the second text follows the first
  kTokenVectorsPart = 1u << 7,  // an embedding of each token
  kNextWordsPart = 1u << 8,     // tokens that may follow the text
  kFoundPart = 1u << 9,         // spans of the text for labels given with it
  kTermsPart = 1u << 10,        // the weights of terms: an embedding whose columns are words; few are not 0
};

/// How output values become scores.
enum Scores : uint8_t {
  kUnscored,  // the values themselves are the answer
  kSoftmax,   // exactly one of several labels holds
  kSigmoids,  // each label holds or not
};

struct TaskTraits {
  uint32_t parts;
  Scores scores;
};

/// Returns the traits of a task; empty for a number that is no task. O(1).
constexpr TaskTraits traits(TaskKind kind) {
  switch (static_cast<fb::TaskKind>(kind)) {
#define BANTAM_TASK(name, parts, scores) \
  case fb::TaskKind::name:               \
    return {parts, scores};
#include "model/tasks.inc"
#undef BANTAM_TASK
  }
  return {0, kUnscored};
}
constexpr TaskTraits traits(fb::TaskKind kind) { return traits(static_cast<TaskKind>(kind)); }

#define BANTAM_TASK(...) +1
static_assert(0
#include "model/tasks.inc"
                  == static_cast<int>(fb::TaskKind::MAX) + 1,
              "every task has its row in tasks.inc");
#undef BANTAM_TASK

constexpr uint32_t task_bit(fb::TaskKind kind) { return 1u << static_cast<uint32_t>(kind); }

/// Bit i: the task with number i has one of `parts`.
constexpr uint32_t tasks_with(uint32_t parts) {
  uint32_t bits = 0;
#define BANTAM_TASK(name, own, ...) bits |= ((own)&parts) != 0 ? task_bit(fb::TaskKind::name) : 0u;
#include "model/tasks.inc"
#undef BANTAM_TASK
  return bits;
}

/// Bit i: the task with number i computes its scores like this.
constexpr uint32_t tasks_scored(Scores scores) {
  uint32_t bits = 0;
#define BANTAM_TASK(name, parts, own) bits |= own == scores ? task_bit(fb::TaskKind::name) : 0u;
#include "model/tasks.inc"
#undef BANTAM_TASK
  return bits;
}

/// Returns true if `kind` is one of `tasks` (bits). False for tasks that this build does not link; inlined, so that
/// compilers remove the code for them from an image.
[[gnu::always_inline]] constexpr bool one_of(uint32_t tasks, TaskKind kind) {
  const uint32_t known = tasks & linked::kTasks;
  return known != 0 && (known >> static_cast<uint32_t>(kind) & 1u) != 0;
}

/// Returns true if an answer of this task has one of `parts`.
[[gnu::always_inline]] constexpr bool has_part(TaskKind kind, uint32_t parts) {
  return one_of(tasks_with(parts), kind);
}

}  // namespace bantam

#endif  // BANTAM_MODEL_TASK_TRAITS_H_
