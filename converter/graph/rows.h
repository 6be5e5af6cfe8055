// ConstantRows: reads a constant's values row by row, from memory or from their source.
#ifndef BANTAM_CONVERTER_GRAPH_ROWS_H_
#define BANTAM_CONVERTER_GRAPH_ROWS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// Returns the number of values in a constant.
size_t count_values(const Constant& constant);

class ConstantRows {
 public:
  /// Each row has `columns` values. `constant` must outlive the object. Memory: about 1 MB, or one row if larger, if
  /// the constant does not hold its values itself.
  ConstantRows(const Constant& constant, size_t columns);
  size_t size() const { return rows_; }
  size_t columns() const { return columns_; }
  /// The pointer is valid until the next call. Reading rows in order is cheap.
  const float* row(size_t r);

 private:
  const Constant& constant_;
  const size_t columns_, rows_;
  size_t first_ = 0, held_ = 0;
  std::vector<float> block_;
};

/// Calls visit(value) for all values in order until it returns false. Returns true if it never did.
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

/// Returns true if both constants have the same values.
bool same_values(const Constant& a, const Constant& b);

/// The rows of `parts`, one part behind the other. At least one part has a source, whose columns all parts have.
std::shared_ptr<const RowSource> stack_rows(std::vector<Constant> parts);

/// Copies all values, in their order, to `out`, which has room for count_values() of them.
void copy_values(const Constant& constant, float* out);

/// Loads all values into memory, for passes that change values in place.
void hold_values(Constant& constant);
void hold_values(Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_ROWS_H_
