// Task heads: from a session's outputs to answers. Each function decodes one sequence of the last run;
// results go into the caller's buffers. kNoSuchTask when the file's task is another one, kNotRun before
// a run.
#ifndef BANTAM_TASKS_H_
#define BANTAM_TASKS_H_

#include "bantam/export.h"
#include "bantam/session.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

struct LabelScore {
  uint32_t label = 0;  // index into the label set
  float score = 0;     // softmax or sigmoid probability; the raw value for regression
};

/// Label sets that the task itself reads: 1, of joint 2. Sets of this number and above are further ones, of texts (or of
/// words, where the task has no labels of texts); Model::label_set_name() says what they are of.
uint32_t task_label_sets(const Model& model);

/// Best `capacity` labels of label set `set` (0, or a further one), best first (ties: smaller index first). Softmax with
/// the set's temperature; multi-label: sigmoid of each; regression: raw values in the order of the labels. Writes
/// *count. `*above` (if given): how many labels hold: multi-label: those over the set's threshold;
/// else 1, or 0 when the best score is under the set's reject_below. O(labels * capacity).
/// Where labels stand above each other (Model::label_above()): softmax: a label of each level from the top, the best of
/// those under the one before it, kMostLevels at most, each with the product of the scores down to it; `*above`: those not
/// under reject_below. Multi-label: a label scores at most what the one above it does. O(labels * levels).
Status classify(const Session& session, uint32_t sequence, LabelScore* out, uint32_t capacity, uint32_t* count,
                uint32_t* above = nullptr, uint32_t set = 0);

/// Does as classify() from `width` logits of the label set, one a label: for the merged logits of several windows.
Status classify_logits(const Model& model, const float* logits, uint32_t width, LabelScore* out, uint32_t capacity,
                       uint32_t* count, uint32_t* above = nullptr, uint32_t set = 0);

/// Logits of the label set of one sequence: `*out` points into the session's output.
Status label_logits(const Session& session, uint32_t sequence, const float** out, uint32_t* width, uint32_t set = 0);

/// Multiple choice: softmax over sequences [first, first + choices) of the last run.
Status choose(const Session& session, uint32_t first, uint32_t choices, LabelScore* out, uint32_t capacity,
              uint32_t* count);

struct Entity {
  uint32_t label = 0;  // index into label set `set`: its first word's
  Text name;           // label without B-/I-/E-/S- prefix (kNone: with it), points into the file
  Offset span;         // bytes of the original text
  float score = 0;     // smallest of its words' label probabilities (kWords), or their mean
};

/// How labels of tokens become entities. kWords: each word has the label of its first token; words are what blanks,
/// punctuation and CJK characters separate (files of older versions: blanks alone), and the file's tag scheme says
/// which words are one entity. Punctuation that touches a word may part entities, but is at the edge of none. The
/// others are the aggregation strategies of transformers' token-classification pipeline, with the same answers: kNone:
/// each token is an entity; kSimple: neighbouring tokens of the same kind are one; kFirst, kAverage, kMax: the tokens
/// of a word have one label first: the first token's, that of the greatest mean of probabilities, or that of the
/// greatest probability.
enum class Aggregation : uint8_t {
  kWords = 0,
  kNone = 1,
  kSimple = 2,
  kFirst = 3,
  kAverage = 4,
  kMax = 5,
  kFile = 255  // the file's
};

/// The label set of words that the task reads: word_label_set().
constexpr uint32_t kTaskSet = UINT32_MAX;

/// The aggregation that the file has for a label set of words.
Aggregation file_aggregation(const Model& model, uint32_t set = kTaskSet);

/// Entities (tag) or slots (joint) of one sequence, or those of a further label set of words. `text` is the original
/// first text. Writes *count, kBufferTooSmall if there are more than `capacity`. O(tokens * labels); kAverage: tokens *
/// labels more often, once a block of 256 labels.
Status tag(const Session& session, uint32_t sequence, Text text, Entity* out, uint32_t capacity, uint32_t* count,
           uint32_t set = kTaskSet, Aggregation aggregation = Aggregation::kFile);

/// Label of every word, as `aggregation` understands words (kNone, kSimple: tokens): for evaluation. There are at most
/// as many as the sequence has tokens. `spans` and `labels` of capacity.
Status tag_words(const Session& session, uint32_t sequence, Text text, Offset* spans, LabelScore* labels,
                 uint32_t capacity, uint32_t* count, uint32_t set = kTaskSet,
                 Aggregation aggregation = Aggregation::kFile);

/// Options of find().
struct FindOptions {
  float threshold = 0;   // probability over which a span is found; 0: the file's
  bool nested = false;   // spans may lie inside others
  bool several = false;  // a span may have several labels
};

/// Finds spans in the text of one sequence for the labels that came with it (Session::add_labelled). Takes the best
/// span over the threshold, then the best of the rest that overlaps none taken before, and so on; writes them in the
/// order of their beginnings. Entity::label is the number of the label, Entity::name is empty. Writes *count;
/// kBufferTooSmall if there are more than `capacity`, of which it writes the best. O(found * words * widths * labels);
/// with nested spans, `found` counts all spans over the threshold.
Status find(const Session& session, uint32_t sequence, const FindOptions& options, Entity* out, uint32_t capacity,
            uint32_t* count);

/// Makes entities of label set `set` (0: tag, 1: joint, or a further one) from labelled words in text order, as tag()
/// does from the words of tag_words(). Writes *count, kBufferTooSmall if there are more than `capacity`.
Status entities(const Model& model, uint32_t set, const Offset* words, const LabelScore* labels, uint32_t word_count,
                Entity* out, uint32_t capacity, uint32_t* count, Aggregation aggregation = Aggregation::kFile);

/// The label set of words: 0 in a tag file, 1 in a joint one.
uint32_t word_label_set(const Model& model);

struct Answer {
  Offset span;      // best valid span: bytes of the context (sequence 1)
  float score = 0;  // softmax probability of the span (or of no answer) among all valid spans
  float logit = 0;  // start + end logit of the best span; of spans that are searched, the sum of both probabilities
  float no_answer =
      0;           // start + end logit of the no-answer position (the first token), or the model's own score for it
  float mass = 0;  // sum over valid spans of exp(start + end logit - logit); 0: there is no valid span
  bool answerable = true;  // false: there is no valid span, or "no answer" is better
};

/// Best valid span of a question/context pair: start <= end, both in the context, at most the file's
/// max_answer_tokens; ties: smaller start, then shorter. No answer where the file has no_answer set and its
/// logit exceeds the span's by more than the threshold. O(context tokens * max_answer_tokens). Models that search (XLNet, where
/// beginnings and ends are not scored apart): of the likeliest beginnings of the sequence and the likeliest ends behind each, those
/// that are valid; no answer where the model's score for that exceeds the threshold. O(beginnings * tokens).
Status answer(const Session& session, uint32_t sequence, Answer* out);

/// Merges another window's answer into `best` (the first window: pass it as `best`): the better span, the
/// smallest no-answer logit, probabilities over all windows' spans.
Status merge_answer(const Model& model, const Answer& window, Answer* best);

/// The role of a text whose vector is compared with others: a file may have one prompt for queries, another for
/// documents.
enum class TextRole : uint8_t { kPlain = 0, kQuery = 1, kDocument = 2 };

/// Returns the prompt that the file wants before every text of that role; add() does not add it. Most files have an
/// empty one. The prompts of queries and documents are the properties "prompt.query" and "prompt.document"; without
/// them, and for plain texts, it is the task's prompt. O(properties).
Text text_prompt(const Model& model, TextRole role = TextRole::kPlain);
/// Returns the value of the file's property `key`, such as "score_function", which the command reads; empty where the
/// file has none. O(properties).
Text property(const Model& model, Text key);
/// Returns the sentence embedding: *out points into the session's output.
Status embed(const Session& session, uint32_t sequence, const float** out, uint32_t* width);
/// Returns the embeddings of a sequence's tokens, a row each, of length 1 where the model normalises them.
Status embed_tokens(const Session& session, uint32_t sequence, OutputView* out);

struct Candidate {
  int32_t id = 0;
  float score = 0;
};

/// Sparse embeddings: the terms (ids of the vocabulary) whose weight is not 0, greatest first, of equal ones the smaller id first; the
/// best `capacity` of them. embed() has the weights of all terms.
Status terms(const Session& session, uint32_t sequence, Candidate* out, uint32_t capacity, uint32_t* count);

/// Fill-mask: best tokens for the `mask`-th [MASK] of the sequence. kIndexOutOfRange past the last one; kNotRun where its scores were not
/// made (Batch::rows).
Status fill(const Session& session, uint32_t sequence, uint32_t mask, Candidate* out, uint32_t capacity,
            uint32_t* count);

/// Generate: best tokens behind the sequence's last one.
Status next_words(const Session& session, uint32_t sequence, Candidate* out, uint32_t capacity, uint32_t* count);

/// Probability that the second text follows the first (next sentence prediction).
Status next_sentence(const Session& session, uint32_t sequence, float* probability);

/// Sliding windows: a text of `total` content tokens (EncodeResult::content) through windows of `size` (kept
/// by the first window), neighbours sharing `overlap` < size tokens.
struct WindowPlan {
  uint32_t total = 0;
  uint32_t size = 0;
  uint32_t overlap = 0;
};

struct Window {
  uint32_t skip = 0;       // first content token: EncodeOptions::skip
  uint32_t size = 0;       // content tokens in the window
  uint32_t own_begin = 0;  // content tokens [own_begin, own_end) are decided by this window: where two
  uint32_t own_end = 0;    // overlap, each has the half that it sees with more context
};

uint32_t window_count(const WindowPlan& plan);             // at least 1
Window window_at(const WindowPlan& plan, uint32_t index);  // index < window_count

/// tag_words() of one window: only words whose first token the window decides. `*resume` is 0 before the first
/// window and carries the end of the last word that was looked at from window to window, in order.
Status tag_window(const Session& session, uint32_t sequence, Text text, const Window& window, uint32_t* resume,
                  Offset* spans, LabelScore* labels, uint32_t capacity, uint32_t* count, uint32_t set = kTaskSet,
                  Aggregation aggregation = Aggregation::kFile);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_TASKS_H_
