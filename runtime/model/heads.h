// The heads of tasks: a single description of the outputs that a task reads after a run. The verifier checks a file's
// outputs against it and tasks find their outputs with it, so that both mean the same rows.
#ifndef BANTAM_MODEL_HEADS_H_
#define BANTAM_MODEL_HEADS_H_

#include "format/verdict.h"
#include "format/view.h"
#include "model/task_traits.h"
#include "ops/more/select.h"

namespace bantam {

/// An output that tasks read.
struct Head {
  uint32_t tasks;       // bits of the tasks that read it
  uint32_t rows;        // unit of its rows: kTokens or kSequences
  uint32_t width;       // its columns; 0: any number
  int32_t set;          // index of the label set that names it; -1: none
  fb::OutputRole role;  // without such a set: selects the first output of this role
};

/// Tasks whose label set 0 labels texts; their label set 1 labels words.
constexpr uint32_t kLabelled = tasks_with(kLabelsPart);
constexpr uint32_t kWorded = tasks_with(kWordsPart);

constexpr Head kLabelHead = {kLabelled, kSequences, 0, 0, fb::OutputRole::labels};
constexpr Head kTagHead = {kWorded & ~kLabelled, kTokens, 0, 0, fb::OutputRole::tags};
constexpr Head kSlotHead = {kWorded & kLabelled, kTokens, 0, 1, fb::OutputRole::tags};
constexpr Head kStartHead = {tasks_with(kSpanPart), kTokens, 1, -1, fb::OutputRole::begin};
constexpr Head kEndHead = {tasks_with(kSpanPart), kTokens, 1, -1, fb::OutputRole::end};
constexpr Head kUnanswerableHead = {tasks_with(kSpanPart), kSequences, 1, -1, fb::OutputRole::unanswerable};
constexpr Head kChoiceHead = {tasks_with(kChoicePart), kSequences, 1, -1, fb::OutputRole::choice};
constexpr Head kFillHead = {tasks_with(kMasksPart), kTokens, 0, -1, fb::OutputRole::words};
constexpr Head kNextHead = {tasks_with(kFollowsPart), kSequences, 0, -1, fb::OutputRole::next};
constexpr Head kEmbeddingHead = {tasks_with(kVectorPart), kSequences, 0, -1, fb::OutputRole::embedding};
constexpr Head kNextWordHead = {tasks_with(kNextWordsPart), kTokens, 0, -1, fb::OutputRole::next_words};
constexpr Head kTokenVectorHead = {tasks_with(kTokenVectorsPart), kTokens, 0, -1, fb::OutputRole::token_embeddings};

constexpr Head kFoundHead = {tasks_with(kFoundPart), kTokens, 0, -1, fb::OutputRole::spans};

/// Models that search answers: the most starts, and the most ends for each start (Task.beam_ends).
constexpr uint32_t kMostSearched = ops::kMostRanks;
/// True if this build has the operator that searches them.
constexpr bool kBeamEnds = linked::op(linked::kOpSelect);

/// Number of label sets of the task itself; sets with this index and above are further ones.
constexpr uint32_t own_label_sets(uint32_t parts) {
  return ((parts & (kLabelsPart | kFollowsPart)) != 0 ? 1u : 0u) + ((parts & kWordsPart) != 0 ? 1u : 0u);
}
/// Unit of the rows of outputs that further label sets name.
constexpr uint32_t further_rows(uint32_t parts) { return (parts & kLabelsPart) != 0 ? kSequences : kTokens; }
/// Returns the head of a further label set, which must exist.
constexpr Head further_head(uint32_t set, uint32_t rows) {
  return {0, rows, 0, static_cast<int32_t>(set), fb::OutputRole::none};
}

/// Returns the index of the output that `head` reads; -1: the file has none. `which` chooses among several outputs of
/// its role. O(outputs).
int32_t find_head(const fb::Model& model, const Head& head, uint32_t which = 0);

/// Returns true if this output tensor has the rows and the width that the head's tasks expect.
inline bool fits(const Head& head, const fb::Tensor& output) {
  return rows_symbol(output) == head.rows && (head.width == 0 || width(output) == head.width);
}

/// Checks that every output that this task reads has the form that its head describes.
Verdict check_heads(const fb::Model& model, fb::TaskKind task);

}  // namespace bantam

#endif  // BANTAM_MODEL_HEADS_H_
