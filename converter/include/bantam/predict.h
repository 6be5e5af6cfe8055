// Predictor: runs a .bantam file on texts as `bantam run` does, with batches, truncation or sliding windows, and
// prompts.
#ifndef BANTAM_PREDICT_H_
#define BANTAM_PREDICT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bantam/outcome.h"

namespace bantam {

struct PredictorOptions {
  uint32_t threads = 1;  // per forward pass
  uint32_t batch = 1;    // maximum number of texts per forward pass; in Predictor::choose, of choices
  uint32_t top = 5;      // maximum number of labels and candidates returned; 0: all
  bool strict = false;   // a text that is too long is an error; otherwise it is truncated
  int64_t stride = -1;   // tokens shared by neighboring windows of a text that is too long; below 0: no windows
  /// For the task "find": the labels of the spans to find.
  std::vector<std::string> labels;
  float threshold = 0;   // for the task "find": probability above which a span is found; 0: the file's
  bool nested = false;   // spans may lie inside other spans
  bool several = false;  // spans may have several labels
  /// How word labels become entities: none, simple, first, average, max, words; "": as the file says.
  std::string aggregation;
};

/// Only the members that belong to the file's task are filled. Offsets are in bytes.
struct Prediction {
  struct Label {
    std::string name;
    float score = 0;  // probability; the raw value for regression
  };
  struct Span {
    std::string name;  // label of an entity; "" for an answer
    std::string text;  // text.substr(begin, end - begin)
    size_t begin = 0;  // first byte in the text (for an answer: in the second text)
    size_t end = 0;    // one past the last byte
    float score = 0;   // probability
  };
  std::vector<Label> labels;  // best first; labels of a hierarchy are in order from the top level down
  /// The number of leading `labels` that apply. Multi-label tasks: those above the file's threshold. Hierarchies: those
  /// not below the file's limit. Otherwise 1, or 0 for a text that is out of scope.
  uint32_t holds = 0;
  std::vector<Span> entities;             // entities of token tags; slots of joint models; found spans
  std::vector<Span> answers;              // one answer, or none if the text contains no answer
  std::vector<float> embedding;           // one value per dimension
  std::vector<Label> terms;               // of sparse embeddings: terms with nonzero weights, greatest first
  std::vector<std::vector<Label>> masks;  // candidates for each [MASK]
  /// The results of each additional label set: labels of the text, or entities if the task does not label texts.
  struct Set {
    std::string name;
    std::vector<Label> labels;
    uint32_t holds = 0;
    std::vector<Span> entities;
  };
  std::vector<Set> sets;
  bool truncated = false;  // the end of the text was cut off
  uint32_t windows = 1;    // number of windows run
};

class Predictor {
 public:
  Predictor();
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  /// Maps and verifies `file` and creates its session. Closes the file opened before.
  Outcome open(const std::string& file, const PredictorOptions& options = {});

  /// The file's task: "classify", "joint", ...; "" before open().
  const std::string& task() const;

  /// One text, or a pair (question and context, premise and hypothesis).
  Outcome predict(const std::string& text, Prediction* out);
  Outcome predict(const std::string& text, const std::string& second, Prediction* out);
  /// Any number of texts, in batches; `out` receives one prediction per text, in the same order.
  Outcome predict(const std::vector<std::string>& texts, std::vector<Prediction>* out);

  /// Multiple choice: the predicted labels are the choices, best first.
  Outcome choose(const std::string& prompt, const std::vector<std::string>& choices, Prediction* out);

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace bantam

#endif  // BANTAM_PREDICT_H_
