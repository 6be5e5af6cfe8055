// The quality gate: judges a file by a comparison, with confidence.
#ifndef BANTAM_CONVERTER_SCORE_JUDGE_H_
#define BANTAM_CONVERTER_SCORE_JUDGE_H_

#include <string>
#include <vector>

#include "score/compare.h"

namespace bantam::convert {

/// One output against the limit.
struct Verdict {
  std::string output;
  std::string
      measure;  // "label flips", "labels lost" (right before, wrong after; less what was gained), "perplexity", "distance"
  double amount = 0;  // so many ...
  double count = 0;   // ... of so many
  double rate = 0;
  double lower_bound = 0;  // with 95 % confidence the true rate is above
  double upper_bound = 1;  // and below; 1 where it is not known
  bool passed = true;
  std::string problem;  // "" where it passed: a sentence with the worst place
};

/// An output fails only if its rate is certainly above `limit` (score/confidence.h). The rate is the share of lost
/// labels if the data names labels, the share of flips for other labels, the rise in perplexity for scores of the next
/// token, and the mean distance, 1 - cosine, for outputs that decide nothing (embeddings, hidden states). A number that
/// is not finite fails.
std::vector<Verdict> judge(const Comparison& comparison, double limit);

/// Returns true if all passed.
bool passed(const std::vector<Verdict>& verdicts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_JUDGE_H_
