// A further use of files that judge pairs of texts: zero-shot classification.
#ifndef BANTAM_CONVERTER_CLI_PAIRS_H_
#define BANTAM_CONVERTER_CLI_PAIRS_H_

#include <string>
#include <vector>

#include "cli/answer/run.h"

namespace bantam::cli {

struct ZeroShot {
  std::vector<std::string> labels;  // the labels that a text may have
  std::string hypothesis;           // {} marks the place of the label; empty: the usual hypothesis
  std::string entailment;           // the model's label that means entailment; empty: the label named entailment
  bool several = false;             // each label is judged alone
  std::string label_model;          // a file whose vectors are comparable to the model's; empty: the model judges pairs
};

/// Returns the hypothesis about a label, from `pattern` or, if that is empty, from `usual`. Fails (usage) if the
/// pattern has no place for a label.
std::string hypothesis_of(const std::string& pattern, const char* usual, const std::string& label);

/// Prints the labels of one text or image, best first, at most as many as the options allow.
void show_scored_labels(const RunOptions& options, const std::string& text, const std::vector<std::string>& labels,
                        const std::vector<float>& scores, bool truncated, bool several_texts);

/// classify --labels: how strongly each text entails the hypothesis with each label (Yin, Hay and Roth 2019,
/// "Benchmarking zero-shot text classification"). Scores are the softmax of the entailment logits over the labels; with
/// `several`, the softmax of entailment against contradiction for each label. Runs one forward pass per label and text:
/// O(texts * labels).
void run_zero_shot(const RunOptions& options, const ZeroShot& asked);

/// classify --labels --label-model: how close the vector of each text or image is to the vectors of hypotheses about
/// the labels, which the other file computes (CLIP, arXiv 2103.00020). Scores are the softmax of the cosines times the
/// factor that one of the files stores.
void run_two_towers(const RunOptions& options, const ZeroShot& asked);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_PAIRS_H_
