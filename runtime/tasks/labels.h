// The task's tables in a verified file: label sets, outputs by name, tags taken apart.
#ifndef BANTAM_TASKS_LABELS_H_
#define BANTAM_TASKS_LABELS_H_

#include "bantam/session.h"
#include "bantam/tasks.h"
#include "bantam_generated.h"
#include "model/heads.h"

namespace bantam::tasks {

/// Null when the file states no task.
const fb::Task* task_of(const Model& model);
/// Null when there is no such set.
const fb::LabelSet* label_set(const Model& model, uint32_t set);

/// Is there a label set of this number beyond the task's own?
[[gnu::always_inline]] inline bool is_further(const Model& model, uint32_t set) {
  return linked::kFurtherSets && set >= task_label_sets(model) && set < model.label_set_count();
}

/// Returns the last run's rows of the output that `head` reads: all of them, or those of one sequence, which has at
/// least one. kNoSuchTask where the file names no such output, kIndexOutOfRange where it has other rows than the
/// head's.
Status head_output(const Session& session, const Head& head, OutputView* out);
/// `which`: the number of the output, where several have the head's role.
Status head_output(const Session& session, const Head& head, uint32_t sequence, OutputView* out, uint32_t which = 0);

/// A tag without its prefix: 'B', 'I', 'E' or 'S' for the IOB and BIOES schemes (U and L count as S and E), 'O' for
/// the outside, 0 for a plain label.
struct Tag {
  char prefix = 'O';
  Text name;    // neighbours of the same name may be one entity
  Text entity;  // what that is called
};
Tag parse_tag(Text label, fb::TagScheme scheme);
/// The same by transformers' strategies, all but kWords: B- and I- are prefixes in every label, and an entity's name is
/// what stands behind the first "-". kNone: every label is an entity ('S') of its whole name.
Tag parse_tag(Text label, Aggregation aggregation);

bool same_text(Text a, Text b);

}  // namespace bantam::tasks

#endif  // BANTAM_TASKS_LABELS_H_
