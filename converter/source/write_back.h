// The way from a graph's constants back to the tensors of the directory that they were made of: whether there is one.
#ifndef BANTAM_CONVERTER_SOURCE_WRITE_BACK_H_
#define BANTAM_CONVERTER_SOURCE_WRITE_BACK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "source/checkpoint.h"

namespace bantam::convert {

/// A tensor of the directory. `turned`: it has the columns of what the graph holds as rows. `first`: the graph holds its elements from
/// this one on, not all of them where it is alone and a table whose other rows no token has. `beside`: what the graph holds is the tensor and
/// these, other tensors' values, which stay as they are.
struct StoredPart {
  std::string name;
  bool turned = false;
  uint64_t first = 0;
  std::vector<float> beside = {};
};

/// By constant of the graph: the stored tensors whose values it holds, one after the other.
using WaysBack = std::map<int32_t, std::vector<StoredPart>>;

/// Constants that hold other values than some stored tensors one after the other, the first or the last rows of one, or one and a vector
/// in each row (products, biases by distance), are left out. O(values).
WaysBack ways_back(const Graph& graph, const Checkpoint& checkpoint);

/// Names of matrices and tables of embeddings that have no way back, though they come from the directory: what has been trained of
/// them could not be stored.
std::vector<std::string> not_written_back(const Graph& graph, const WaysBack& ways);

/// Names of the vectors and tables of places of which that is so: training leaves them as they are.
std::vector<std::string> held(const Graph& graph, const WaysBack& ways);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_WRITE_BACK_H_
