// A plain double-precision evaluation of an importer's graph: slow, unrelated to the runtime's kernels, and
// therefore a witness of what an import means. Tests only.
#ifndef BANTAM_TESTS_GOLDEN_EVALUATE_H_
#define BANTAM_TESTS_GOLDEN_EVALUATE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::golden {

/// One row a token or one row, row-major.
struct Matrix {
  size_t rows = 0, width = 0;
  std::vector<double> values;
  double& at(size_t row, size_t column) { return values[row * width + column]; }
  double at(size_t row, size_t column) const { return values[row * width + column]; }
};

/// Texts as ids for each chunk of a text.
using Retrieved = std::vector<std::vector<std::vector<int32_t>>>;

/// Outputs by name for one sequence; `segments` and `marks` may be empty (all 0). `decoder_ids`: of encoder-decoders, which read `ids`
/// as their source; empty where the model says what their decoders read. `retrieved`: of models that take it.
std::map<std::string, Matrix> evaluate(const convert::Graph& graph, const std::vector<int32_t>& ids,
                                       const std::vector<int32_t>& segments,
                                       const std::vector<int32_t>& decoder_ids = {},
                                       const std::vector<int32_t>& marks = {}, const Retrieved& retrieved = {});

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_EVALUATE_H_
