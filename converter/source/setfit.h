// SetFit's heads (arXiv 2209.11055): a linear classifier of a sentence-transformers vector, beside the modules.
#ifndef BANTAM_CONVERTER_SOURCE_SETFIT_H_
#define BANTAM_CONVERTER_SOURCE_SETFIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/builder.h"
#include "source/model_source.h"

namespace bantam::convert {

/// Label scores: weight [labels, width] times the vector, plus bias. With two labels and one row, the row is the second
/// label's, and the first label's score is 0.
struct SetFitHead {
  Values weight, bias;
  uint32_t rows = 0;  // of the weight
  std::vector<std::string> labels;
  bool normalize = false;  // normalize the vector to unit length first
};

inline constexpr const char* kSetFitSettings = "config_setfit.json";

/// Returns true if there is a head: model_head.pkl, or its weights as model_head.safetensors.
bool is_setfit(const ModelSource& source);

/// Reads "coef" [rows, width], "intercept" [rows] and the metadata "classes" of model_head.safetensors, and
/// config_setfit.json. "classes" is a JSON list of scikit-learn's `classes_`: the label of each score. Executes
/// nothing: if there is only model_head.pkl, a pickle, the problem explains how to save these.
SetFitHead read_setfit(const ModelSource& source, uint32_t width, Problems& problems);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SETFIT_H_
