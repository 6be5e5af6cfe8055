// A further use of files that judge pairs of texts: zero-shot classification.
#ifndef BANTAM_CONVERTER_CLI_PAIRS_H_
#define BANTAM_CONVERTER_CLI_PAIRS_H_

#include <string>
#include <vector>

#include "cli/answer/run.h"

namespace bantam::cli {

struct ZeroShot {
  std::vector<std::string> labels;  // that a text may have
  std::string hypothesis;           // where a label takes the place of {}; empty: the usual one
  std::string entailment;           // the model's label that says so; empty: the one called entailment
  bool several = false;             // each label is judged alone
  std::string label_model;          // a file whose vectors lie beside the model's; empty: the model judges pairs
};

/// The hypothesis about a label: `pattern`, or `usual` where that is empty. Fails (usage) where it has no place for a label.
std::string hypothesis_of(const std::string& pattern, const char* usual, const std::string& label);

/// One text's (or image's) labels, best first, at most so many as the options say.
void show_scored_labels(const RunOptions& options, const std::string& text, const std::vector<std::string>& labels,
                        const std::vector<float>& scores, bool truncated, bool several_texts);

/// classify --labels: how far each text entails the hypothesis with each label (Yin, Hay and Roth 2019, "Benchmarking zero-shot
/// text classification"). Scores are the softmax of the entailment logits over the labels; with `several` that of
/// entailment against contradiction, for each label. A forward pass a label; O(texts * labels).
void run_zero_shot(const RunOptions& options, const ZeroShot& asked);

/// classify --labels --label-model: how near the vector of each text or image lies to those of hypotheses about the labels, which
/// the other file makes (CLIP, arXiv 2103.00020): the softmax of cosines times the factor that one of the files holds.
void run_two_towers(const RunOptions& options, const ZeroShot& asked);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_PAIRS_H_
