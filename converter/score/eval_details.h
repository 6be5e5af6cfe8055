// Scores of each label, and which labels are taken for which.
#ifndef BANTAM_CONVERTER_SCORE_EVAL_DETAILS_H_
#define BANTAM_CONVERTER_SCORE_EVAL_DETAILS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "score/eval_run.h"

namespace bantam::convert {

/// A label of texts, or a name of entities. 0 where a quotient has no denominator, as in scikit-learn.
struct LabelDetail {
  std::string label;
  uint64_t correct = 0;
  uint64_t predicted = 0;
  uint64_t support = 0;  // in the data
  double precision() const;
  double recall() const;
  double f1() const;
};

/// Each in the order of names.
struct EvalDetails {
  std::vector<LabelDetail> labels;
  std::vector<LabelDetail> entities;  // by their whole span, as EntityMetrics counts
  /// confusion[i][j]: texts of label i that are said to have label j, where a text has one label; else empty.
  std::vector<std::vector<uint64_t>> confusion;
};

EvalDetails details(const Dataset& data, const Outcome& outcome);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_EVAL_DETAILS_H_
