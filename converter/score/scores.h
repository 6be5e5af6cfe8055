// Scores a model's logits against labels: cross-entropy, accuracy, calibration.
#ifndef BANTAM_CONVERTER_SCORE_SCORES_H_
#define BANTAM_CONVERTER_SCORE_SCORES_H_

#include <cstdint>
#include <vector>

#include "data/texts.h"
#include "graph/graph.h"
#include "run/runner.h"

namespace bantam::convert {

/// Index of each text's label in the model's first label set; -1: the text has none. All -1 for models that do not give one
/// label to a text. Throws Error (invalid) listing labels that the model does not have.
std::vector<int64_t> label_numbers(const fb::ModelT& model, const std::vector<LabelledText>& texts);

/// The decision from one text's logits, divided by a temperature.
struct Decision {
  double score = 0;    // of the best label: its share of softmax
  bool right = false;  // it is `label`
  double loss = 0;     // cross-entropy with `label`, nats; 0 without one
};

/// `label`: an index below `width`, or -1 for none. O(width).
Decision decide(const float* logits, size_t width, int64_t label, double temperature = 1);

struct LabelScores {
  uint64_t count = 0;  // texts with a label
  double loss = 0;     // mean cross-entropy, nats
  double accuracy = 0;
};

/// `outputs` of each text, as Runner::run gives them.
LabelScores score_labels(const fb::ModelT& model, const std::vector<std::vector<OutputRows>>& outputs,
                         const std::vector<int64_t>& labels);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_SCORES_H_
