// Scores of each label, and which labels are confused with which.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_DETAILS_H_
#define BANTAM_CONVERTER_SCORE_EVAL_DETAILS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "score/eval_run.h"

namespace bantam::convert {

/// Scores for a label of texts or a type of entities. Quotients with denominator 0 are 0, as in scikit-learn.
struct LabelDetail {
  std::string label;
  uint64_t correct = 0;
  uint64_t predicted = 0;
  uint64_t support = 0;  // occurrences in the data
  double precision() const;
  double recall() const;
  double f1() const;
};

/// Each list is sorted by name.
struct EvalDetails {
  std::vector<LabelDetail> labels;
  std::vector<LabelDetail> entities;  // by their whole spans, as in EntityMetrics
  /// confusion[i][j]: the number of texts of label i for which label j is predicted, if each text has one label;
  /// otherwise empty.
  std::vector<std::vector<uint64_t>> confusion;
};

EvalDetails details(const Dataset& data, const Outcome& outcome);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_DETAILS_H_
