// What the constants of a graph are for.
#ifndef BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_
#define BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// Class of each constant tensor of a packed graph (embeddings, attention, ffn, heads, norms and biases), "" for activations.
std::vector<std::string> tensor_classes(const Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_
