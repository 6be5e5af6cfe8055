// Calibrates a classifier's scores on validation data: a temperature, and a score below which an answer is out of
// scope.
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

/// How well scores agree with observed frequencies.
struct Reliability {
  double loss = 0;   // mean cross-entropy, nats
  double error = 0;  // expected calibration error over 15 bins of equal width (arXiv 1706.04599), in [0, 1]
};

struct ScoreCalibration {
  uint64_t texts = 0;         // texts with a label of the model
  uint64_t out_of_scope = 0;  // texts labeled as out of scope
  float temperature = 1;
  float reject_below = 0;
  Reliability before, after;
  double rejected_right = 0;         // fraction of correct answers below the limit
  double rejected_wrong = 0;         // of wrong answers
  double rejected_out_of_scope = 0;  // of texts that are out of scope
};

/// The logits of a text, and its label (-1: out of scope).
struct Scored {
  std::vector<float> logits;
  int64_t label = -1;
};

/// Fits the temperature with the least cross-entropy in [0.05, 20], to three digits (arXiv 1706.04599), and the limit,
/// rounded down to three digits. With out-of-scope texts, the limit separates them best from correct answers (it
/// maximizes the mean of both fractions on the correct side); without, it is the highest that rejects at most
/// `max_rejected` of the correct answers. O(n log n).
ScoreCalibration fit_scores(const std::vector<Scored>& data, double max_rejected);

/// Runs the file on the texts and fits. Labels "out_of_scope" and "oos", unless they are labels of the model, mean out
/// of scope. Throws Error: unsupported if the task does not give one label per text; invalid for labels that the model
/// does not have, and for fewer than 20 labeled texts.
ScoreCalibration calibrate_scores(const fb::ModelT& model, const FileBytes& bytes,
                                  const std::vector<LabelledText>& texts, double max_rejected,
                                  const std::function<void(double)>& progress);

/// Returns the file with the calibration in its first label set.
FileBytes with_calibration(const FileBytes& bytes, const ScoreCalibration& calibration);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_CALIBRATION_H_
