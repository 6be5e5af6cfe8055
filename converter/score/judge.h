// The quality gate: judges a file by a comparison, with confidence bounds.
#ifndef BANTAM_CONVERTER_SCORE_JUDGE_H_
#define BANTAM_CONVERTER_SCORE_JUDGE_H_

#include <string>
#include <vector>

#include "score/compare.h"

namespace bantam::convert {

/// The result for one output.
struct Verdict {
  std::string output;
  std::string
      measure;  // "label flips", "labels lost" (right before, wrong after; less what was gained), "perplexity", "distance"
  double amount = 0;  // the rate is amount ...
  double count = 0;   // ... / count
  double rate = 0;
  double lower_bound = 0;  // the true rate is above it with 95 % confidence
  double upper_bound = 1;  // the true rate is below it with 95 % confidence; 1 if unknown
  bool passed = true;
  std::string problem;  // empty if it passed; otherwise a sentence with the worst place
};

/// Judges each output. It fails only if its rate is above `limit` with confidence (score/confidence.h). The rate is the
/// proportion of lost labels if the data have labels, the proportion of flips for other labels, the increase in
/// perplexity for scores of the next token, and the mean distance, 1 - cosine, for outputs that decide nothing
/// (embeddings, hidden states). A value that is not finite fails.
std::vector<Verdict> judge(const Comparison& comparison, double limit);

/// Returns true if all verdicts passed.
bool passed(const std::vector<Verdict>& verdicts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_JUDGE_H_
