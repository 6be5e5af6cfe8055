// evaluate: scores a .bantam file on labeled data, as `bantam eval` does.
#ifndef BANTAM_EVALUATE_H_
#define BANTAM_EVALUATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bantam/outcome.h"

namespace bantam {

struct EvaluationOptions {
  uint32_t threads = 1;
  uint32_t batch = 1;
  size_t limit = 0;         // maximum number of examples; 0: all
  bool skip_bad = false;    // skip malformed lines instead of returning an error
  std::string aggregation;  // of word labels, as in PredictorOptions::aggregation
};

struct Evaluation {
  size_t examples = 0;
  size_t skipped = 0;    // malformed lines
  size_t truncated = 0;  // examples longer than the model's limit
  double seconds = 0;    // seconds spent in the tokenizer, forward passes and task heads
  /// Names and values as `bantam eval` prints them: accuracy, macro_f1, slot_f1, spearman, exact_match ...
  std::vector<std::pair<std::string, double>> metrics;
};

/// `data` is a file with one JSON object per line and example; `bantam eval --help` lists the layouts.
Outcome evaluate(const std::string& file, const std::string& data, const EvaluationOptions& options, Evaluation* out);

}  // namespace bantam

#endif  // BANTAM_EVALUATE_H_
