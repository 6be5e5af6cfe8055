// From texts to answers: batches, truncation, sliding windows, task heads. What `run` prints and `eval` scores.
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

/// One text, or a pair (question and context); of models of images a path.
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

/// What a label set beyond the task's own says: labels of the text, or of its words.
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

/// What a further label set is of, by name or by number: "sentiment", "set 2".
std::string set_name(const Model& model, uint32_t set);

/// The label that an answer names: the best; where labels stand above each other, the lowest that holds. There is one at least.
LabelScore best_label(const Model& model, uint32_t set, const std::vector<LabelScore>& labels, uint32_t holds);

class Predictor {
 public:
  /// `parts`: those of the file's task, or some of them (the intent of a joint file alone). `engine` outlives the predictor.
  Predictor(Engine& engine, uint32_t parts, const PredictOptions& options);

  /// Answers to inputs, in their order, in as few runs as the engine's arena and batch take (plus one a window where a text does
  /// not fit). Answers do not depend on what else is in a run. The vector of a text without a token is 0.
  std::vector<Prediction> predict(const std::vector<Input>& inputs);

  /// Multiple choice: probabilities of `choices` (at most engine.batch()) following the first text of `prompt`, best first.
  Prediction choose(const Input& prompt, const std::vector<std::string>& choices);

  /// Numbers of a vector.
  uint32_t width() const;
  /// Bits of Part, and how the file's scores are made.
  uint32_t parts() const { return parts_; }
  Scores scores() const { return traits(engine_.model().task()).scores; }
  Engine& engine() const { return engine_; }

 private:
  /// Nothing is added where no token is in it (its vector is `zeros()`), or where there is no room beside what has been added.
  enum class Added : uint8_t { kYes, kNoToken, kNoRoom };
  Added add(const Input& input, const EncodeOptions& options);
  /// Runs what has been added, inputs[added[i]] as sequence i, and forgets it.
  void run_added(const std::vector<Input>& inputs, std::vector<size_t>* added, std::vector<Prediction>* out);
  /// The same of masks alone, where the model can: of texts that have one.
  void run_masks(const std::vector<Input>& inputs, const std::vector<size_t>& added);
  std::vector<float> zeros() const;
  void decode(uint32_t sequence, const Input& input, Prediction* out);
  void decode_set(uint32_t sequence, const Input& input, SetAnswer* out);
  /// As many as the options ask for, by ask(candidates, capacity, &count).
  template <typename Ask>
  std::vector<Candidate> candidates(const Ask& ask) const;
  void decode_masks(uint32_t sequence, Prediction* out);
  void decode_terms(uint32_t sequence, const Input& input, Prediction* out);
  void decode_next_words(uint32_t sequence, const Input& input, Prediction* out);
  void decode_next(uint32_t sequence, Prediction* out);
  void decode_found(uint32_t sequence, const Input& input, Prediction* out);
  /// The label sets that are asked for, the task's own first; and their answers put where they belong.
  std::vector<SetAnswer> sets_asked() const;
  static void put(std::vector<SetAnswer> sets, const Model& model, Prediction* out);
  bool of_words(uint32_t set) const;
  /// Labels of a text from its logits; entities from its first `count` labelled words.
  void rank(const float* logits, uint32_t width, SetAnswer* out) const;
  void join_words(uint32_t count, SetAnswer* out) const;

  /// What is carried of a set from window to window: label logits are averaged, words are appended.
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

/// Numbers of a text's vector, or words that weights of terms are of: of a model whose task has kVectorPart.
uint32_t embedding_width(const Model& model);

/// Name of a label of a set of the whole text; next sentence: "is_next", "not_next" unless the file says otherwise.
std::string label_name(const Model& model, uint32_t label, uint32_t set = 0);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PREDICT_H_
