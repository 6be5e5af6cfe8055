// Predictor: runs a .bantam file from texts to answers as `bantam run` does, with batches, truncation or sliding
// windows, and prompts.
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
  uint32_t threads = 1;  // of one forward pass
  uint32_t batch = 1;    // texts of one forward pass at most; choices of Predictor::choose at most
  uint32_t top = 5;      // labels and candidates kept at most; 0: all
  bool strict = false;   // a text that does not fit is an error; else its end is cut off
  int64_t stride = -1;   // tokens that neighbouring windows share, where texts do not fit; below 0: no windows
  std::vector<std::string> labels;  // of a file whose task is "find": what it finds spans for
  float threshold = 0;              // of such a file: probability over which a span is found; 0: the file's
  bool nested = false;              // found spans may lie inside others
  bool several = false;             // and have several labels
  std::string aggregation;          // of labels of words: "": the file's; none, simple, first, average, max, words
};

/// Only the members of the file's task are filled. Offsets are bytes.
struct Prediction {
  struct Label {
    std::string name;
    float score = 0;  // probability; the raw value for regression
  };
  struct Span {
    std::string name;  // of an entity; "" of an answer
    std::string text;  // text.substr(begin, end - begin)
    size_t begin = 0;  // first byte in the text (of an answer: in the second text) ...
    size_t end = 0;    // ... and the one behind the last
    float score = 0;   // probability
  };
  std::vector<Label> labels;  // best first; where labels stand above each other, from the top down
  /// How many of `labels` hold: with several labels those over the file's threshold; with levels those not under the
  /// file's limit; else 1, or 0 for a text that is out of scope.
  uint32_t holds = 0;
  std::vector<Span> entities;             // tags; slots of joint models; spans that were found
  std::vector<Span> answers;              // one, or none where the text has no answer
  std::vector<float> embedding;           // one value a dimension
  std::vector<Label> terms;               // of sparse embeddings: those whose weight is not 0, greatest first
  std::vector<std::vector<Label>> masks;  // candidates for each [MASK]
  /// The results of each label set beyond the task's own: labels of the text, or entities if the task has no labels of
  /// texts.
  struct Set {
    std::string name;
    std::vector<Label> labels;
    uint32_t holds = 0;
    std::vector<Span> entities;
  };
  std::vector<Set> sets;
  bool truncated = false;  // the end of the text was not read
  uint32_t windows = 1;    // that were run
};

class Predictor {
 public:
  Predictor();
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  /// Maps and verifies `file` and makes its session. Closes the file that was open before.
  Outcome open(const std::string& file, const PredictorOptions& options = {});

  /// The file's task: "classify", "joint", ...; "" before open().
  const std::string& task() const;

  /// One text, or a pair (question and context, premise and hypothesis).
  Outcome predict(const std::string& text, Prediction* out);
  Outcome predict(const std::string& text, const std::string& second, Prediction* out);
  /// Any number of texts, in batches; `out` holds one prediction each, in their order.
  Outcome predict(const std::vector<std::string>& texts, std::vector<Prediction>* out);

  /// Multiple choice: labels are the choices, best first.
  Outcome choose(const std::string& prompt, const std::vector<std::string>& choices, Prediction* out);

 private:
  struct Open;
  std::unique_ptr<Open> open_;
};

}  // namespace bantam

#endif  // BANTAM_PREDICT_H_
