// evaluate: scores of a .bantam file on labelled data, as `bantam eval` gives them.
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
  size_t limit = 0;         // examples at most; 0: all
  bool skip_bad = false;    // leave malformed lines out instead of refusing them
  std::string aggregation;  // of labels of words, as PredictorOptions::aggregation
};

struct Evaluation {
  size_t examples = 0;
  size_t skipped = 0;    // malformed lines
  size_t truncated = 0;  // examples that did not fit
  double seconds = 0;    // in tokenizer, forward passes and task heads
  /// Names and values as `bantam eval` prints them: accuracy, macro_f1, slot_f1, spearman, exact_match ...
  std::vector<std::pair<std::string, double>> metrics;
};

/// `data`: a line of JSON an example; `bantam eval --help` lists the layouts.
Outcome evaluate(const std::string& file, const std::string& data, const EvaluationOptions& options, Evaluation* out);

}  // namespace bantam

#endif  // BANTAM_EVALUATE_H_
