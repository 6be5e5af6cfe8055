// What a file that judges pairs of texts is used for besides: zero-shot classification.
#ifndef BANTAM_CONVERTER_CLI_PAIRS_H_
#define BANTAM_CONVERTER_CLI_PAIRS_H_

#include <string>
#include <vector>

#include "cli/run.h"

namespace bantam::cli {

struct ZeroShot {
  std::vector<std::string> labels;                 // that a text may have
  std::string hypothesis = "This example is {}.";  // where a label takes the place of {}
  std::string entailment;                          // the model's label that says so; empty: the one called entailment
  bool several = false;                            // each label is judged alone
};

/// classify --labels: how far each text entails the hypothesis with each label (Yin, Hay and Roth 2019, "Benchmarking zero-shot
/// text classification"). Scores are the softmax of the entailment logits over the labels; with `several` that of
/// entailment against contradiction, for each label. A forward pass a label; O(texts * labels).
void run_zero_shot(const RunOptions& options, const ZeroShot& asked);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_PAIRS_H_
