// Names of tasks, and what follows for texts from the parts of an answer (model/task_traits.h).
#ifndef BANTAM_CONVERTER_GRAPH_TASK_PARTS_H_
#define BANTAM_CONVERTER_GRAPH_TASK_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "bantam_generated.h"
#include "model/task_traits.h"

namespace bantam::convert {

/// "classify", "multi_label", ...: the task as JSON and people see it, which is the schema's name.
const char* task_name(TaskKind kind);
/// As people type it: "multi-label"; "encoder" for no task.
std::string typed_name(TaskKind kind);
/// The task of this typed name; none: there is no such task.
std::optional<TaskKind> parse_task(const std::string& name);
/// Typed names of `tasks` (bits) for a sentence: "classify, tag and joint".
std::string task_list(uint32_t tasks);

/// Has one text one label, so that it is right or wrong: classify, joint, next sentence?
constexpr bool gives_one_label(const TaskTraits& task) {
  const bool follows = (task.parts & kFollowsPart) != 0 && (task.parts & kMasksPart) == 0;
  return task.scores == kSoftmax && ((task.parts & kLabelsPart) != 0 || follows);
}

/// May a second text come with the first? Labels of words, vectors, and what follows are of one text.
constexpr bool takes_second(uint32_t parts) {
  return (parts & (kWordsPart | kVectorPart | kTokenVectorsPart | kNextWordsPart | kFoundPart)) == 0;
}
/// Is there no answer without? Where there are masks as well, these answer a text alone.
constexpr bool needs_second(uint32_t parts) {
  return (parts & (kSpanPart | kFollowsPart | kChoicePart)) != 0 && (parts & kMasksPart) == 0;
}
/// Are there more labels or candidates than one wants to see?
constexpr bool has_best(uint32_t parts) { return (parts & (kLabelsPart | kMasksPart | kNextWordsPart)) != 0; }
/// Can windows slide over a long text?
constexpr bool can_slide(uint32_t parts) { return (parts & (kLabelsPart | kWordsPart | kSpanPart)) != 0; }
/// Does an answer say where something stands?
constexpr bool has_places(uint32_t parts) { return (parts & (kWordsPart | kSpanPart | kFoundPart)) != 0; }

/// The parts of one answer: of masks and what follows, a second text decides.
constexpr uint32_t parts_of_answer(uint32_t parts, bool pair) {
  constexpr uint32_t kEither = kMasksPart | kFollowsPart;
  return (parts & kEither) != kEither ? parts : parts & ~(pair ? kMasksPart : kFollowsPart);
}

/// The property that names what makes a score of a pair's number: "Identity"; else the sigmoid does.
constexpr const char* kScoreFunction = "score_function";

/// The property that names how vectors are compared: "dot", "euclidean" or "manhattan"; else by their cosine.
constexpr const char* kSimilarity = "similarity";

/// Pool.skip_first of a graph whose prompt's tokens are left out and not counted yet (pipeline/prompt_rows.h).
constexpr uint32_t kPromptRows = UINT32_MAX;

/// The properties of the prompts before queries and documents (bantam/tasks.h).
constexpr const char* kQueryPrompt = "prompt.query";
constexpr const char* kDocumentPrompt = "prompt.document";

/// The property of what products of two towers' vectors are multiplied by before their softmax: a number.
constexpr const char* kScoreFactor = "score_factor";
/// The id whose first token ends segment 0 of ids that come without segments (Big Bird's questions); without it all are 0.
constexpr const char* kSegmentEnd = "segment_end";

/// The property of what is then added to them: a number. Where a file has it, scores are sigmoids, each label's by itself.
constexpr const char* kScoreShift = "score_shift";

/// The output of rows that the encoder of what is retrieved sees of a chunk (Model.chunk).
constexpr const char* kChunkRows = "chunk_state";

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TASK_PARTS_H_
