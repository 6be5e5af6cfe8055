// The task's tables in a verified file: label sets, outputs by head, parsed tags.
#ifndef BANTAM_TASKS_LABELS_H_
#define BANTAM_TASKS_LABELS_H_

#include "bantam/session.h"
#include "bantam/tasks.h"
#include "bantam_generated.h"
#include "model/heads.h"

namespace bantam::tasks {

/// Returns null if the file has no task.
const fb::Task* task_of(const Model& model);
/// Returns null if there is no such set.
const fb::LabelSet* label_set(const Model& model, uint32_t set);

/// Returns true if there is a further label set with this index, beyond the task's own.
[[gnu::always_inline]] inline bool is_further(const Model& model, uint32_t set) {
  return linked::kFurtherSets && set >= task_label_sets(model) && set < model.label_set_count();
}

/// Returns the last run's rows of the output that `head` reads: all of them, or those of one sequence, which has at
/// least one. kNoSuchTask: the file has no such output; kIndexOutOfRange: its rows are not of the head's kind.
Status head_output(const Session& session, const Head& head, OutputView* out);
/// `which`: index among the outputs with the head's role.
Status head_output(const Session& session, const Head& head, uint32_t sequence, OutputView* out, uint32_t which = 0);

/// A parsed tag: 'B', 'I', 'E' or 'S' in the IOB and BIOES schemes (U and L count as S and E), 'O' outside of entities,
/// 0 for a plain label.
struct Tag {
  char prefix = 'O';
  Text name;    // adjacent words with the same name may be one entity
  Text entity;  // name of that entity
};
Tag parse_tag(Text label, fb::TagScheme scheme);
/// The same for transformers' strategies (all but kWords): B- and I- are prefixes in every label, and an entity's name
/// is the text after the first "-". kNone: every label is an entity ('S') with its whole name.
Tag parse_tag(Text label, Aggregation aggregation);

bool same_text(Text a, Text b);

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_LABELS_H_
