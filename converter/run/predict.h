// Predicts answers from texts, with batches, truncation, sliding windows and task heads. `run` prints these answers and
// `eval` scores them.
#ifndef BANTAM_CONVERTER_RUN_PREDICT_H_
#define BANTAM_CONVERTER_RUN_PREDICT_H_

#include <optional>
#include <string>
#include <vector>

#include "bantam/tasks.h"
#include "data/mentions.h"
#include "graph/task_parts.h"
#include "run/engine.h"
#include "run/images.h"
#include "run/token_vectors.h"

namespace bantam::convert {

/// A text, or a pair (question and context); for image models, a path.
struct Input {
  std::string first;
  std::optional<std::string> second;
  std::vector<Mention> mentions = {};  // for models that read entities
};

struct PredictOptions {
  uint32_t top = 5;                  // number of labels or candidates to keep
  bool strict = false;               // truncation is an error
  std::optional<uint32_t> stride;    // number of tokens that neighboring windows share; none: truncate
  TextRole role = TextRole::kPlain;  // for texts that have vectors
  uint32_t width = 0;                // number of vector elements to keep; 0: all
  std::vector<std::string> labels;   // for files that find spans for given labels
  FindOptions find;
  Aggregation aggregation = Aggregation::kFile;  // for labels of words
  bool logits = false;                           // also keep the logits that the labels' scores are computed from
};

/// The answer of a label set that the task itself does not use: labels of the text or of its words.
struct SetAnswer {
  uint32_t set = 0;
  std::vector<LabelScore> labels;
  uint32_t holds = 0;
  std::vector<Offset> words;
  std::vector<LabelScore> word_labels;
  std::vector<Entity> entities;
};

/// Only the members of `parts` are filled.
struct Prediction {
  uint32_t parts = 0;  // the requested parts, as bits of Part
  bool truncated = false;
  uint32_t windows = 1;
  uint32_t rows = 0;                    // tokens of the first run, special tokens included
  std::vector<LabelScore> labels;       // labels, next sentence, choices
  uint32_t holds = 0;                   // number of labels that hold: see bantam/tasks.h
  std::vector<float> logits;            // PredictOptions::logits: logits of the first output
  std::vector<Offset> words;            // every labeled word ...
  std::vector<LabelScore> word_labels;  // ... and its label
  std::vector<Entity> entities;         // with the caller's labels, their names belong to the predictor
  Answer answer;
  std::vector<float> embedding;
  std::vector<Candidate> terms;  // the nonzero terms of a sparse embedding, greatest first
  TokenVectors tokens;
  std::vector<std::vector<Candidate>> masks;  // candidates for each [MASK], or for the next token
  std::vector<Offset> mask_spans;
  std::vector<SetAnswer> further;
};

/// Returns the title of a further label set, its name or its number: "sentiment", "set 2".
std::string set_name(const Model& model, uint32_t set);

/// Returns the best label; for hierarchical labels, the lowest one that holds. There must be at least one label.
LabelScore best_label(const Model& model, uint32_t set, const std::vector<LabelScore>& labels, uint32_t holds);

class Predictor {
 public:
  /// `parts`: the parts of the file's task, or some of them (such as only the intent of a joint file). `engine` must
  /// outlive the predictor.
  Predictor(Engine& engine, uint32_t parts, const PredictOptions& options);

  /// Answers the inputs in order, in as few runs as the engine's arena and batch allow, plus one run per window of a
  /// text that does not fit. Answers do not depend on the other texts in a run. The vector of a text without tokens is
  /// 0.
  std::vector<Prediction> predict(const std::vector<Input>& inputs);

  /// Multiple choice: returns the probabilities that `choices` (at most engine.batch()) follow the first text of
  /// `prompt`, best first.
  Prediction choose(const Input& prompt, const std::vector<std::string>& choices);

  /// Returns the width of a vector.
  uint32_t width() const;
  /// parts() returns bits of Part; scores() returns how the file's scores are computed.
  uint32_t parts() const { return parts_; }
  Scores scores() const { return traits(engine_.model().task()).scores; }
  Engine& engine() const { return engine_; }

 private:
  /// The result of adding an input: kNoToken if it has no token (its vector is `zeros()`), kNoRoom if it does not fit
  /// besides the inputs already added. In both cases nothing is added.
  enum class Added : uint8_t { kYes, kNoToken, kNoRoom };
  Added add(const Input& input, const EncodeOptions& options);
  /// Runs the added inputs, of which inputs[added[i]] is sequence i, and clears `added`.
  void run_added(const std::vector<Input>& inputs, std::vector<size_t>* added, std::vector<Prediction>* out);
  /// Runs the added inputs, which contain masks, and scores only the masks if the model can.
  void run_masks(const std::vector<Input>& inputs, const std::vector<size_t>& added);
  std::vector<float> zeros() const;
  void decode(uint32_t sequence, const Input& input, Prediction* out);
  void decode_set(uint32_t sequence, const Input& input, SetAnswer* out);
  /// Returns as many candidates as the options request, by calling ask(candidates, capacity, &count).
  template <typename Ask>
  std::vector<Candidate> candidates(const Ask& ask) const;
  void decode_masks(uint32_t sequence, Prediction* out);
  void decode_terms(uint32_t sequence, const Input& input, Prediction* out);
  void decode_next_words(uint32_t sequence, const Input& input, Prediction* out);
  void decode_next(uint32_t sequence, Prediction* out);
  void decode_found(uint32_t sequence, const Input& input, Prediction* out);
  /// sets_asked() returns the requested label sets, starting with the task's own; put() moves their answers to the
  /// members of the prediction.
  std::vector<SetAnswer> sets_asked() const;
  static void put(std::vector<SetAnswer> sets, const Model& model, Prediction* out);
  bool of_words(uint32_t set) const;
  /// rank() derives a text's labels from its logits; join_words() derives entities from its first `count` labeled
  /// words.
  void rank(const float* logits, uint32_t width, SetAnswer* out) const;
  void join_words(uint32_t count, SetAnswer* out) const;

  /// The state of a label set that is carried from window to window: label logits are averaged, words are appended.
  struct WindowSums {
    SetAnswer answer;
    std::vector<float> logits;
    uint32_t words = 0;
    uint32_t resume = 0;
  };
  void slide(const Input& input, Prediction* out);
  void merge(const Input& input, const Window& window, std::vector<WindowSums>* sums, Prediction* out);
  void merge_set(const Input& input, const Window& window, WindowSums* sums);

  std::vector<Prediction> predict_images(const std::vector<Input>& inputs);
  std::vector<Prediction> predict_tokens(const std::vector<Input>& inputs);
  void refuse_truncation(const Input& input, const EncodeResult& result) const;
  std::string where(const Input& input) const;

  Engine& engine_;
  uint32_t parts_;
  PredictOptions options_;
  EntityMarks marks_;
  std::optional<ImageBatch> images_;     // for models that read images
  std::optional<TokenEmbedder> tokens_;  // for files of token vectors
  std::string prompt_;                   // for vectors: the file's text before every input
};

/// Returns the width of a text's vector, or the number of words that have term weights, for a model whose task has
/// kVectorPart.
uint32_t embedding_width(const Model& model);

/// Returns the name of a label in a set of the whole text. For next sentence, it is "is_next" or "not_next" unless the
/// file says otherwise.
std::string label_name(const Model& model, uint32_t label, uint32_t set = 0);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PREDICT_H_
