// Predicts from texts to answers, with batches, truncation, sliding windows and task heads: the answers that `run`
// prints and `eval` scores.
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

/// One text, or a pair (question and context); for models of images a path.
struct Input {
  std::string first;
  std::optional<std::string> second;
  std::vector<Mention> mentions = {};  // of models that take entities
};

struct PredictOptions {
  uint32_t top = 5;                  // labels or candidates kept
  bool strict = false;               // truncation is an error
  std::optional<uint32_t> stride;    // tokens that neighbouring windows share; none: truncate
  TextRole role = TextRole::kPlain;  // of texts that have vectors
  uint32_t width = 0;                // numbers of a vector that are kept; 0: all
  std::vector<std::string> labels;   // of files that find spans for them
  FindOptions find;
  Aggregation aggregation = Aggregation::kFile;  // of labels of words
  bool logits = false;                           // what the labels' scores are made of is kept, too
};

/// The answer of a label set beyond the task's own: labels of the text, or of its words.
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
  uint32_t parts = 0;  // what was asked for: bits of Part
  bool truncated = false;
  uint32_t windows = 1;
  uint32_t rows = 0;                    // tokens, with special ones, of what was read first
  std::vector<LabelScore> labels;       // labels, what follows, choices
  uint32_t holds = 0;                   // labels that hold: see bantam/tasks.h
  std::vector<float> logits;            // PredictOptions::logits: of the first output
  std::vector<Offset> words;            // every labelled word ...
  std::vector<LabelScore> word_labels;  // ... and its label
  std::vector<Entity> entities;         // names of the caller's labels are the predictor's
  Answer answer;
  std::vector<float> embedding;
  std::vector<Candidate> terms;  // those of a sparse embedding that are not 0, greatest first
  TokenVectors tokens;
  std::vector<std::vector<Candidate>> masks;  // candidates of each [MASK], or of what follows the text
  std::vector<Offset> mask_spans;
  std::vector<SetAnswer> further;
};

/// The title of a further label set, by name or by number: "sentiment", "set 2".
std::string set_name(const Model& model, uint32_t set);

/// Returns the label that an answer names: the best; if labels stand above each other, the lowest that holds. There
/// must be at least one label.
LabelScore best_label(const Model& model, uint32_t set, const std::vector<LabelScore>& labels, uint32_t holds);

class Predictor {
 public:
  /// `parts`: the parts of the file's task, or some of them (only the intent of a joint file). `engine` outlives the
  /// predictor.
  Predictor(Engine& engine, uint32_t parts, const PredictOptions& options);

  /// Answers the inputs, in their order, in as few runs as the engine's arena and batch allow (plus one per window if a
  /// text does not fit). Answers do not depend on the other texts in a run. The vector of a text without a token is 0.
  std::vector<Prediction> predict(const std::vector<Input>& inputs);

  /// Multiple choice: returns the probabilities that `choices` (at most engine.batch()) follow the first text of
  /// `prompt`, best first.
  Prediction choose(const Input& prompt, const std::vector<std::string>& choices);

  /// The width of a vector.
  uint32_t width() const;
  /// Bits of Part, and how the file's scores are made.
  uint32_t parts() const { return parts_; }
  Scores scores() const { return traits(engine_.model().task()).scores; }
  Engine& engine() const { return engine_; }

 private:
  /// The result of adding an input: kNoToken if it has no token (its vector is `zeros()`), kNoRoom if there is no room
  /// besides the inputs added before. Neither adds anything.
  enum class Added : uint8_t { kYes, kNoToken, kNoRoom };
  Added add(const Input& input, const EncodeOptions& options);
  /// Runs the added inputs, inputs[added[i]] as sequence i, and forgets them.
  void run_added(const std::vector<Input>& inputs, std::vector<size_t>* added, std::vector<Prediction>* out);
  /// Runs the added inputs, texts that have masks, and scores only their masks if the model can.
  void run_masks(const std::vector<Input>& inputs, const std::vector<size_t>& added);
  std::vector<float> zeros() const;
  void decode(uint32_t sequence, const Input& input, Prediction* out);
  void decode_set(uint32_t sequence, const Input& input, SetAnswer* out);
  /// Returns as many candidates as the options ask for, by ask(candidates, capacity, &count).
  template <typename Ask>
  std::vector<Candidate> candidates(const Ask& ask) const;
  void decode_masks(uint32_t sequence, Prediction* out);
  void decode_terms(uint32_t sequence, const Input& input, Prediction* out);
  void decode_next_words(uint32_t sequence, const Input& input, Prediction* out);
  void decode_next(uint32_t sequence, Prediction* out);
  void decode_found(uint32_t sequence, const Input& input, Prediction* out);
  /// sets_asked() returns the requested label sets, the task's own first; put() moves their answers to where they
  /// belong.
  std::vector<SetAnswer> sets_asked() const;
  static void put(std::vector<SetAnswer> sets, const Model& model, Prediction* out);
  bool of_words(uint32_t set) const;
  /// rank() derives a text's labels from its logits; join_words() derives entities from its first `count` labelled
  /// words.
  void rank(const float* logits, uint32_t width, SetAnswer* out) const;
  void join_words(uint32_t count, SetAnswer* out) const;

  /// The state of a set that is carried from window to window: label logits are averaged, words are appended.
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
  std::optional<ImageBatch> images_;     // of models that take some
  std::optional<TokenEmbedder> tokens_;  // of files of token vectors
  std::string prompt_;                   // of vectors: what the file puts before every text
};

/// The width of a text's vector, or the number of words that have weights of terms, for a model whose task has
/// kVectorPart.
uint32_t embedding_width(const Model& model);

/// The name of a label in a set of the whole text; for next sentence "is_next", "not_next" unless the file says
/// otherwise.
std::string label_name(const Model& model, uint32_t label, uint32_t set = 0);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PREDICT_H_
