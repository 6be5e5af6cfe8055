// What the constants of a graph are for.
#ifndef BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_
#define BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// Where in the network the operator stands; no part and no layer where it does not say.
fb::Tag tag_of(const fb::OpT& op);

/// The matrices that an operator multiplies rows with, which are laid out in tiles.
std::vector<int32_t> multiplied_by(const fb::OpT& op);

/// Gives constants that passes have made the tag of the first operator that reads them.
void tag_constants(Graph& graph);

/// Class of each constant tensor of a packed graph (embeddings, attention, ffn, heads, norms and biases), "" for activations.
std::vector<std::string> tensor_classes(const Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_
