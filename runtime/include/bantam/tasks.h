// Task heads: from a session's outputs to answers. Each function decodes one sequence of the last run;
// results go into the caller's buffers. kNoSuchTask when the file's task is another one, kNotRun before
// a run.
#ifndef BANTAM_TASKS_H_
#define BANTAM_TASKS_H_

#include "bantam/session.h"

namespace bantam {

struct LabelScore {
  uint32_t label = 0;   // index into the label set
  float score = 0;      // softmax or sigmoid probability; the raw value for regression
};

/// Best `capacity` labels of label set 0, best first (ties: smaller index first). multi-label: sigmoid
/// of each; `*above` (if given) counts those over the file's threshold. Writes *count.
Status classify(const Session& session, uint32_t sequence, LabelScore* out, uint32_t capacity, uint32_t* count,
                uint32_t* above = nullptr);

/// Multiple choice: softmax over sequences [first, first + choices) of the last run.
Status choose(const Session& session, uint32_t first, uint32_t choices, LabelScore* out, uint32_t capacity,
              uint32_t* count);

struct Entity {
  uint32_t label = 0;       // index into label set `set`; the tag without its prefix is entity_name()
  Text name;                // label without B-/I-/E-/S- prefix, points into the file
  Offset span;              // bytes of the original text
  float score = 0;          // smallest of its words' label probabilities
};

/// Entities (tag) or slots (joint) of one sequence. `text` is the original first text. Writes *count,
/// kBufferTooSmall if there are more than `capacity`.
Status tag(const Session& session, uint32_t sequence, Text text, Entity* out, uint32_t capacity, uint32_t* count);

/// Label of every word (a maximal run of non-blanks): for evaluation. `spans` and `labels` of capacity.
Status tag_words(const Session& session, uint32_t sequence, Text text, Offset* spans, LabelScore* labels,
                 uint32_t capacity, uint32_t* count);

struct Answer {
  Offset span;              // bytes of the context (sequence 1); empty: no answer
  float score = 0;          // softmax probability of the span among valid spans (with no-answer)
  float logit = 0;          // start + end logit
  float no_answer = 0;      // start + end logit of the no-answer position
  bool answerable = true;
};

/// Best valid span of a question/context pair.
Status answer(const Session& session, uint32_t sequence, Answer* out);

/// The sentence embedding: points into the session's output.
Status embed(const Session& session, uint32_t sequence, const float** out, uint32_t* width);

struct Candidate {
  int32_t id = 0;
  float score = 0;
};

/// Fill-mask: best tokens for the `mask`-th [MASK] of the sequence. kIndexOutOfRange past the last one.
Status fill(const Session& session, uint32_t sequence, uint32_t mask, Candidate* out, uint32_t capacity,
            uint32_t* count);

/// Probability that the second text follows the first (next sentence prediction).
Status next_sentence(const Session& session, uint32_t sequence, float* probability);

}  // namespace bantam

#endif  // BANTAM_TASKS_H_
