// Task heads: turn a session's outputs into answers. Each function decodes one sequence of the last run and writes the
// results to the caller's buffers. kNoSuchTask: the file has another task; kNotRun: there was no run yet.
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

/// Returns the number of label sets that the task itself reads: 2 for joint models, else 1. Sets with this index and
/// above are further sets, of texts (or of words, if the task has no labels of texts); Model::label_set_name() names
/// their subject.
uint32_t task_label_sets(const Model& model);

/// Writes the best `capacity` labels of label set `set` (0, or a further set), best first (ties: smaller index first).
/// Scores are a softmax with the set's temperature; multi-label: a sigmoid of each logit; regression: raw values in
/// label order. Writes *count. `*above` (if given) is the number of labels that hold: multi-label: those above the
/// set's threshold; else 1, or 0 if the best score is below the set's reject_below. O(labels * capacity).
/// If the labels form a hierarchy (Model::label_above()): with softmax, writes one label per level from the top, each
/// the best child of the one before it, at most kMostLevels; its score is the product of the scores down to it;
/// `*above` counts those not below reject_below. Multi-label: a label's score is at most that of its parent. O(labels *
/// levels).
Status classify(const Session& session, uint32_t sequence, LabelScore* out, uint32_t capacity, uint32_t* count,
                uint32_t* above = nullptr, uint32_t set = 0);

/// Does the same as classify() from `width` logits, one per label of the set. For the merged logits of several windows.
Status classify_logits(const Model& model, const float* logits, uint32_t width, LabelScore* out, uint32_t capacity,
                       uint32_t* count, uint32_t* above = nullptr, uint32_t set = 0);

/// Logits of the label set of one sequence: `*out` points into the session's output.
Status label_logits(const Session& session, uint32_t sequence, const float** out, uint32_t* width, uint32_t set = 0);

/// Multiple choice: softmax over sequences [first, first + choices) of the last run.
Status choose(const Session& session, uint32_t first, uint32_t choices, LabelScore* out, uint32_t capacity,
              uint32_t* count);

struct Entity {
  uint32_t label = 0;  // index into the label set: the label of the entity's first word
  Text name;           // label without B-/I-/E-/S- prefix (kNone: with it), points into the file
  Offset span;         // byte range in the original text
  float score = 0;     // kWords: the smallest label probability of its words; else their mean
};

/// How token labels become entities. kWords: each word has the label of its first token; blanks, punctuation and CJK
/// characters separate words (in files of older versions only blanks do), and the file's tag scheme defines which words
/// form one entity. Punctuation that touches a word may separate entities, but an entity neither begins nor ends with
/// it. The others are the aggregation strategies of transformers' token-classification pipeline, with the same results.
/// kNone: each token is an entity; kSimple: adjacent tokens of the same kind are one; kFirst, kAverage, kMax: the
/// tokens of a word first get one label: that of the first token, the one with the greatest mean probability, or the
/// one with the greatest probability.
enum class Aggregation : uint8_t {
  kWords = 0,
  kNone = 1,
  kSimple = 2,
  kFirst = 3,
  kAverage = 4,
  kMax = 5,
  kFile = 255  // the file's own aggregation
};

/// Selects the label set of words that the task reads: word_label_set().
constexpr uint32_t kTaskSet = UINT32_MAX;

/// Returns the aggregation that the file states for a label set of words.
Aggregation file_aggregation(const Model& model, uint32_t set = kTaskSet);

/// Writes the entities (tag) or slots (joint) of one sequence, or the entities of a further label set of words. `text`
/// is the original first text. Writes *count; kBufferTooSmall if there are more than `capacity`. O(tokens * labels);
/// kAverage reads the tokens again for each block of 256 labels.
Status tag(const Session& session, uint32_t sequence, Text text, Entity* out, uint32_t capacity, uint32_t* count,
           uint32_t set = kTaskSet, Aggregation aggregation = Aggregation::kFile);

/// Writes the label of every word, for evaluation. `aggregation` defines the words (kNone, kSimple: tokens). There are
/// at most as many words as the sequence has tokens. `spans` and `labels` each have `capacity` elements.
Status tag_words(const Session& session, uint32_t sequence, Text text, Offset* spans, LabelScore* labels,
                 uint32_t capacity, uint32_t* count, uint32_t set = kTaskSet,
                 Aggregation aggregation = Aggregation::kFile);

/// Options of find().
struct FindOptions {
  float threshold = 0;   // a span is found if its probability is above this; 0: the file's threshold
  bool nested = false;   // spans may lie inside others
  bool several = false;  // a span may have several labels
};

/// Finds spans in the text of one sequence for the labels that were added with it (Session::add_labelled). Takes the
/// best span above the threshold, then the best remaining one that overlaps no span taken before, and so on; writes
/// them in text order. Entity::label is the number of the label, Entity::name is empty. Writes *count; kBufferTooSmall
/// if there are more than `capacity`: it then writes the best ones. O(found * words * widths * labels); with nested
/// spans, `found` counts all spans above the threshold.
Status find(const Session& session, uint32_t sequence, const FindOptions& options, Entity* out, uint32_t capacity,
            uint32_t* count);

/// Builds entities of label set `set` (0: tag, 1: joint, or a further set) from labelled words in text order, as tag()
/// does from the words of tag_words(). Writes *count; kBufferTooSmall if there are more than `capacity`.
Status entities(const Model& model, uint32_t set, const Offset* words, const LabelScore* labels, uint32_t word_count,
                Entity* out, uint32_t capacity, uint32_t* count, Aggregation aggregation = Aggregation::kFile);

/// Returns the index of the label set of words: 0 in a tag file, 1 in a joint one.
uint32_t word_label_set(const Model& model);

struct Answer {
  Offset span;      // best valid span: bytes of the context (sequence 1)
  float score = 0;  // softmax probability of the span (or of no answer) among all valid spans
  float logit = 0;  // start + end logit of the best span; in models that search, the sum of both probabilities
  // Start + end logit of the no-answer position (the first token), or the model's own score for it.
  float no_answer = 0;
  float mass = 0;          // sum over valid spans of exp(start + end logit - logit); 0: there is no valid span
  bool answerable = true;  // false: there is no valid span, or "no answer" is better
};

/// Finds the best valid span of a question/context pair: start <= end, both in the context, at most the file's
/// max_answer_tokens long; ties: smaller start, then shorter. There is no answer if the file has no_answer set and that
/// logit exceeds the span's by more than the threshold. O(context tokens * max_answer_tokens). Models that search
/// (XLNet, where the end's score depends on the start): finds the best valid span among the likeliest starts of the
/// sequence and the likeliest ends for each; there is no answer if the model's score for that exceeds the threshold.
/// O(starts * tokens).
Status answer(const Session& session, uint32_t sequence, Answer* out);

/// Merges another window's answer into `best` (for the first window pass that one as `best`): keeps the better span and
/// the smallest no-answer logit, and normalizes probabilities over the spans of all windows.
Status merge_answer(const Model& model, const Answer& window, Answer* best);

/// The role of a text whose embedding is compared with others: a file may have one prompt for queries and another for
/// documents.
enum class TextRole : uint8_t { kPlain = 0, kQuery = 1, kDocument = 2 };

/// Returns the prompt that the file requires before every text of that role; add() does not add it. Most files have an
/// empty one. The properties "prompt.query" and "prompt.document" hold the prompts of queries and documents; without
/// them, and for plain texts, it is the task's prompt. O(properties).
Text text_prompt(const Model& model, TextRole role = TextRole::kPlain);
/// Returns the value of the file's property `key`, such as "score_function", which the command-line tool reads; empty
/// if the file has none. O(properties).
Text property(const Model& model, Text key);
/// Returns the sentence embedding: *out points into the session's output.
Status embed(const Session& session, uint32_t sequence, const float** out, uint32_t* width);
/// Returns the embeddings of a sequence's tokens, one row per token; of length 1 if the model normalizes them.
Status embed_tokens(const Session& session, uint32_t sequence, OutputView* out);

struct Candidate {
  int32_t id = 0;
  float score = 0;
};

/// Sparse embeddings: writes the best `capacity` terms (vocabulary ids) whose weight is not 0, greatest weight first
/// (ties: smaller id first). embed() returns the weights of all terms.
Status terms(const Session& session, uint32_t sequence, Candidate* out, uint32_t capacity, uint32_t* count);

/// Fill-mask: writes the best tokens for the `mask`-th [MASK] of the sequence. kIndexOutOfRange: there are fewer masks;
/// kNotRun: the run did not compute its scores (Batch::rows).
Status fill(const Session& session, uint32_t sequence, uint32_t mask, Candidate* out, uint32_t capacity,
            uint32_t* count);

/// Generate: writes the best tokens to follow the sequence's last one.
Status next_words(const Session& session, uint32_t sequence, Candidate* out, uint32_t capacity, uint32_t* count);

/// Probability that the second text follows the first (next sentence prediction).
Status next_sentence(const Session& session, uint32_t sequence, float* probability);

/// Sliding windows over a text of `total` content tokens (EncodeResult::content). Each window has `size` content tokens
/// (EncodeResult::kept of the first window); adjacent windows share `overlap` < size tokens.
struct WindowPlan {
  uint32_t total = 0;
  uint32_t size = 0;
  uint32_t overlap = 0;
};

struct Window {
  uint32_t skip = 0;  // first content token: EncodeOptions::skip
  uint32_t size = 0;  // content tokens in the window
  // This window decides content tokens [own_begin, own_end): where two windows overlap, each decides the half for which
  // it has more context.
  uint32_t own_begin = 0;
  uint32_t own_end = 0;
};

uint32_t window_count(const WindowPlan& plan);             // at least 1
Window window_at(const WindowPlan& plan, uint32_t index);  // index < window_count

/// Does the same as tag_words() for one window: only for words whose first token the window decides. Set `*resume` to 0
/// before the first window and call in window order; it carries the end of the last word examined to the next window.
Status tag_window(const Session& session, uint32_t sequence, Text text, const Window& window, uint32_t* resume,
                  Offset* spans, LabelScore* labels, uint32_t capacity, uint32_t* count, uint32_t set = kTaskSet,
                  Aggregation aggregation = Aggregation::kFile);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_TASKS_H_
