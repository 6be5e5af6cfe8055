// Names of tasks, and properties of a task that follow from the parts of its answer (model/task_traits.h).
#ifndef BANTAM_CONVERTER_GRAPH_TASK_PARTS_H_
#define BANTAM_CONVERTER_GRAPH_TASK_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "bantam_generated.h"
#include "model/task_traits.h"

namespace bantam::convert {

/// The task's name in JSON and in messages, which is the schema's: "classify", "multi_label", ...
const char* task_name(TaskKind kind);
/// The task's name on the command line: "multi-label"; "encoder" if there is no task.
std::string typed_name(TaskKind kind);
/// Parses a task name of the command line; nullopt if there is no such task.
std::optional<TaskKind> parse_task(const std::string& name);
/// Lists the names of `tasks` (a bit set) for a sentence: "classify, tag and joint".
std::string task_list(uint32_t tasks);

/// Returns true if each text gets one label, which is right or wrong: classify, joint, next sentence.
constexpr bool gives_one_label(const TaskTraits& task) {
  const bool follows = (task.parts & kFollowsPart) != 0 && (task.parts & kMasksPart) == 0;
  return task.scores == kSoftmax && ((task.parts & kLabelsPart) != 0 || follows);
}

/// Returns true if a second text may accompany the first. Tasks with word labels, vectors, next words or found spans
/// take one.
constexpr bool takes_second(uint32_t parts) {
  return (parts & (kWordsPart | kVectorPart | kTokenVectorsPart | kNextWordsPart | kFoundPart)) == 0;
}
/// Returns true if the task requires a second text. A task that also fills masks does so for a single text.
constexpr bool needs_second(uint32_t parts) {
  return (parts & (kSpanPart | kFollowsPart | kChoicePart)) != 0 && (parts & kMasksPart) == 0;
}
/// Returns true if there may be more labels or candidates than a user wants to see.
constexpr bool has_best(uint32_t parts) { return (parts & (kLabelsPart | kMasksPart | kNextWordsPart)) != 0; }
/// Returns true if windows can slide over a long text.
constexpr bool can_slide(uint32_t parts) { return (parts & (kLabelsPart | kWordsPart | kSpanPart)) != 0; }
/// Returns true if answers contain positions in the text.
constexpr bool has_places(uint32_t parts) { return (parts & (kWordsPart | kSpanPart | kFoundPart)) != 0; }

/// The parts of one answer. If the task has both masks and next sentence, a pair gets the latter, a single text the
/// former.
constexpr uint32_t parts_of_answer(uint32_t parts, bool pair) {
  constexpr uint32_t kEither = kMasksPart | kFollowsPart;
  return (parts & kEither) != kEither ? parts : parts & ~(pair ? kMasksPart : kFollowsPart);
}

/// The property with the function that computes a pair's score: "Identity"; without it, the sigmoid.
constexpr const char* kScoreFunction = "score_function";

/// The property with the measure that compares vectors: "dot", "euclidean" or "manhattan"; without it, cosine.
constexpr const char* kSimilarity = "similarity";

/// Pool.skip_first of a graph that excludes the prompt's tokens, whose number is not known yet
/// (pipeline/prompt_rows.h).
constexpr uint32_t kPromptRows = UINT32_MAX;

/// The properties with the prompts of queries and documents (bantam/tasks.h).
constexpr const char* kQueryPrompt = "prompt.query";
constexpr const char* kDocumentPrompt = "prompt.document";

/// The property with the number by which the dot products of two towers' vectors are multiplied before the softmax.
constexpr const char* kScoreFactor = "score_factor";
/// The property with the id whose first token ends segment 0 if no segments are given (Big Bird's questions); without
/// it all segments are 0.
constexpr const char* kSegmentEnd = "segment_end";
/// The property of decoders that make texts and that read the source's ids, the last one first, if no ids are given
/// for them (mBART); without it they read their start token first.
constexpr const char* kTurnsSource = "turns_source";

/// The property with the number that is then added to the products. If a file has it, scores are sigmoids, independent
/// for each label.
constexpr const char* kScoreShift = "score_shift";

/// The output with the rows of a chunk that the encoder of retrieved chunks reads (Model.chunk).
constexpr const char* kChunkRows = "chunk_state";

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TASK_PARTS_H_
