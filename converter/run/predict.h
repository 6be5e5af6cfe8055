// From texts to answers: batches, truncation, sliding windows, task heads. What `run` prints and `eval` scores.
#ifndef BANTAM_CONVERTER_RUN_PREDICT_H_
#define BANTAM_CONVERTER_RUN_PREDICT_H_

#include <optional>
#include <string>
#include <vector>

#include "bantam/tasks.h"
#include "run/engine.h"

namespace bantam::convert {

/// One text, or a pair (question and context).
struct Input {
  std::string first;
  std::optional<std::string> second;
};

struct PredictOptions {
  uint32_t top = 5;                // labels or candidates kept
  bool strict = false;             // truncation is an error
  std::optional<uint32_t> stride;  // tokens that neighbouring windows share; none: truncate
};

/// Only the members of the task are filled.
struct Prediction {
  bool truncated = false;
  uint32_t windows = 1;
  std::vector<LabelScore> labels;       // classify, joint (intent), next sentence
  uint32_t holds = 0;                   // labels that hold: see bantam/tasks.h
  std::vector<Offset> words;            // tag, joint: every labelled word ...
  std::vector<LabelScore> word_labels;  // ... and its label
  std::vector<Entity> entities;
  Answer answer;
  std::vector<float> embedding;
  std::vector<std::vector<Candidate>> masks;  // fill: candidates of each [MASK]
  std::vector<Offset> mask_spans;
};

class Predictor {
 public:
  /// `task` is the file's task or one that the file can do as well (classify and tag for a joint file, fill and
  /// next sentence for pre-training). `engine` outlives the predictor.
  Predictor(Engine& engine, TaskKind task, const PredictOptions& options);

  /// Answers to at most engine.batch() inputs, in one run (plus one a window where a text does not fit).
  std::vector<Prediction> predict(const std::vector<Input>& inputs);

  /// Multiple choice: probabilities of `choices` (at most engine.batch()) following `prompt`, best first.
  Prediction choose(const std::string& prompt, const std::vector<std::string>& choices);

  TaskKind task() const { return task_; }
  Engine& engine() const { return engine_; }

 private:
  void add(const Input& input, const EncodeOptions& options);
  void decode(uint32_t sequence, const Input& input, Prediction* out);
  void decode_labels(uint32_t sequence, Prediction* out);
  void decode_words(uint32_t sequence, const Input& input, Prediction* out);
  void decode_masks(uint32_t sequence, Prediction* out);
  void decode_next(uint32_t sequence, Prediction* out);
  /// Labels of a text from its logits; entities from its first `count` labelled words.
  void rank(const float* logits, uint32_t width, Prediction* out) const;
  void join_words(uint32_t count, Prediction* out) const;

  /// What is carried from window to window: label logits are averaged, words are appended.
  struct WindowSums {
    std::vector<float> logits;
    uint32_t words = 0;
    uint32_t resume = 0;
  };
  void slide(const Input& input, Prediction* out);
  void merge(const Input& input, const Window& window, WindowSums* sums, Prediction* out);

  void refuse_truncation(const Input& input, const EncodeResult& result) const;
  std::string where(const Input& input) const;

  Engine& engine_;
  TaskKind task_;
  PredictOptions options_;
  std::string prompt_;  // embed: what the file puts before every text
};

/// Name of a label of the whole text; next sentence: "is_next", "not_next" unless the file says otherwise.
std::string label_name(const Model& model, uint32_t label);

/// Can this task slide windows over long text?
bool can_slide(TaskKind task);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_PREDICT_H_
