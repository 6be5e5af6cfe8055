// Calibration of a classifier's scores on validation data: a temperature, and a score below which an answer is out of scope.
#ifndef BANTAM_CONVERTER_CALIBRATE_CALIBRATION_H_
#define BANTAM_CONVERTER_CALIBRATE_CALIBRATION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/texts.h"
#include "format/file.h"
#include "graph/graph.h"

namespace bantam::convert {

/// How far scores are from frequencies.
struct Reliability {
  double loss = 0;   // mean cross-entropy, nats
  double error = 0;  // expected calibration error over 15 bins of equal width (arXiv 1706.04599), in [0, 1]
};

struct ScoreCalibration {
  uint64_t texts = 0;         // with a label of the model's
  uint64_t out_of_scope = 0;  // labelled so
  float temperature = 1;
  float reject_below = 0;
  Reliability before, after;
  double rejected_right = 0;         // share of right answers under the limit
  double rejected_wrong = 0;         // of wrong ones
  double rejected_out_of_scope = 0;  // of texts out of scope
};

/// A text's logits, and its label (-1: out of scope).
struct Scored {
  std::vector<float> logits;
  int64_t label = -1;
};

/// The temperature of least cross-entropy in [0.05, 20], to three digits (arXiv 1706.04599). The limit: with texts out of
/// scope the one that tells them best from right answers (the mean of both shares told right is largest), else the highest
/// that refuses at most `max_rejected` of the right answers; to three digits, downwards. O(n log n).
ScoreCalibration fit_scores(const std::vector<Scored>& data, double max_rejected);

/// Runs the file on the texts and fits. Labels "out_of_scope" and "oos" that are no labels of the model mean none of them.
/// Throws Error: (unsupported) a task that does not give one label to a text, (invalid) labels that the model does not have,
/// fewer than 20 labelled texts.
ScoreCalibration calibrate_scores(const fb::ModelT& model, const FileBytes& bytes,
                                  const std::vector<LabelledText>& texts, double max_rejected,
                                  const std::function<void(double)>& progress);

/// The file with the calibration in its first label set.
FileBytes with_calibration(const FileBytes& bytes, const ScoreCalibration& calibration);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_CALIBRATION_H_
