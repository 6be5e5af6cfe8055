// ConstantRows: a constant's values row by row, wherever they lie.
#ifndef BANTAM_CONVERTER_GRAPH_ROWS_H_
#define BANTAM_CONVERTER_GRAPH_ROWS_H_

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// How many values it has.
size_t count_values(const Constant& constant);

class ConstantRows {
 public:
  /// Of so many columns each. `constant` outlives it. Memory: of a constant whose values are not held about 1 MB, or a row.
  ConstantRows(const Constant& constant, size_t columns);
  size_t size() const { return rows_; }
  size_t columns() const { return columns_; }
  /// Valid until another row is asked for. Cheap where rows are asked for in their order.
  const float* row(size_t r);

 private:
  const Constant& constant_;
  const size_t columns_, rows_;
  size_t first_ = 0, held_ = 0;
  std::vector<float> block_;
};

/// Calls visit(value) for all values, in their order, until it gives false. Was that never?
template <typename Visit>
bool all_values(const Constant& constant, const Visit& visit) {
  ConstantRows rows(constant, constant.later == nullptr ? constant.values.size() : constant.later->columns());
  for (size_t r = 0; r < rows.size(); ++r) {
    const float* row = rows.row(r);
    for (size_t c = 0; c < rows.columns(); ++c) {
      if (!visit(row[c])) return false;
    }
  }
  return true;
}

/// Have both the same values?
bool same_values(const Constant& a, const Constant& b);

/// For passes that change values in their places: all are held from now on.
void hold_values(Constant& constant);
void hold_values(Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_ROWS_H_
