// Scores a model's logits against labels: cross-entropy, accuracy, calibration.
#ifndef BANTAM_CONVERTER_SCORE_SCORES_H_
#define BANTAM_CONVERTER_SCORE_SCORES_H_

#include <cstdint>
#include <vector>

#include "data/texts.h"
#include "graph/graph.h"
#include "run/runner.h"

namespace bantam::convert {

/// Returns the index of each text's label in the model's first label set; -1: the text has none. All are -1 for models
/// that do not assign one label to a text. Throws Error (invalid) that lists labels which the model does not have.
std::vector<int64_t> label_numbers(const fb::ModelT& model, const std::vector<LabelledText>& texts);

/// The decision from a text's logits divided by a temperature.
struct Decision {
  double score = 0;    // softmax of the best label
  bool right = false;  // the best label is `label`
  double loss = 0;     // cross-entropy with `label` in nats; 0 without a label
};

/// `label`: an index below `width`, or -1 for none. O(width).
Decision decide(const float* logits, size_t width, int64_t label, double temperature = 1);

struct LabelScores {
  uint64_t count = 0;  // texts with a label
  double loss = 0;     // mean cross-entropy in nats
  double accuracy = 0;
};

/// `outputs`: the outputs for each text, from Runner::run.
LabelScores score_labels(const fb::ModelT& model, const std::vector<std::vector<OutputRows>>& outputs,
                         const std::vector<int64_t>& labels);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_SCORES_H_
