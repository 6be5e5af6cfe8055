// Maps a graph's constants back to the tensors of the directory from which they were built, if that is possible.
#ifndef BANTAM_CONVERTER_SOURCE_WRITE_BACK_H_
#define BANTAM_CONVERTER_SOURCE_WRITE_BACK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "source/checkpoint.h"

namespace bantam::convert {

/// A tensor of the directory. `turned`: its columns are the rows that the graph holds. `first`: the graph holds its
/// elements from this one on; possibly not to the end, if the tensor is the only part and is a table whose other rows
/// no token uses. `beside`: the graph holds the sum of the tensor and these values of other tensors, which stay
/// unchanged.
struct StoredPart {
  std::string name;
  bool turned = false;
  uint64_t first = 0;
  std::vector<float> beside = {};
};

/// For each constant of the graph: the stored tensors whose values it holds, one after the other.
using WaysBack = std::map<int32_t, std::vector<StoredPart>>;

/// Omits constants whose values are not some stored tensors one after the other, the first or last rows of one, or one
/// plus a vector in each row (for example products and biases by distance). O(values).
WaysBack ways_back(const Graph& graph, const Checkpoint& checkpoint);

/// Returns the names of matrices and embedding tables that come from the directory but cannot be mapped back: training
/// results for them could not be stored.
std::vector<std::string> not_written_back(const Graph& graph, const WaysBack& ways);

/// Returns the names of such vectors and position tables: training does not change them.
std::vector<std::string> held(const Graph& graph, const WaysBack& ways);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_WRITE_BACK_H_
