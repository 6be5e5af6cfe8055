// A plain evaluation of an importer's graph in double precision. It is slow and independent of the runtime's kernels,
// and therefore verifies what an imported graph computes. For tests only.
#ifndef BANTAM_TESTS_GOLDEN_EVALUATE_H_
#define BANTAM_TESTS_GOLDEN_EVALUATE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::golden {

/// Row-major values: one row per token, or a single row.
struct Matrix {
  size_t rows = 0, width = 0;
  std::vector<double> values;
  double& at(size_t row, size_t column) { return values[row * width + column]; }
  double at(size_t row, size_t column) const { return values[row * width + column]; }
};

/// The texts retrieved for each chunk of a text, as ids.
using Retrieved = std::vector<std::vector<std::vector<int32_t>>>;

/// Returns the outputs by name for one sequence; `segments` and `marks` may be empty (all 0). `decoder_ids`: for
/// encoder-decoders, whose source is `ids`; empty if the model determines the decoder's input. `retrieved`: for models
/// that read it.
std::map<std::string, Matrix> evaluate(const convert::Graph& graph, const std::vector<int32_t>& ids,
                                       const std::vector<int32_t>& segments,
                                       const std::vector<int32_t>& decoder_ids = {},
                                       const std::vector<int32_t>& marks = {}, const Retrieved& retrieved = {});

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_EVALUATE_H_
