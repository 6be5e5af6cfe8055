// The way from a graph's constants back to the tensors of the directory that they were made of: whether there is one.
#ifndef BANTAM_CONVERTER_IMPORT_SOURCE_WRITE_BACK_H_
#define BANTAM_CONVERTER_IMPORT_SOURCE_WRITE_BACK_H_

#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/source/checkpoint.h"

namespace bantam::convert {

/// Names of constants whose values are not those of their source tensors one after the other, but some of them, parts or products:
/// what has been trained of them could not be stored. O(tensors * log tensors).
std::vector<std::string> not_written_back(const Graph& graph, const Checkpoint& checkpoint);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_SOURCE_WRITE_BACK_H_
