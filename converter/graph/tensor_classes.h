// Classifies the constants of a graph by their purpose.
#ifndef BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_
#define BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace bantam::convert {

/// The operator's position in the network; no part and no layer if it has no tag.
fb::Tag tag_of(const fb::OpT& op);

/// The matrices by which an operator multiplies rows; they are laid out in tiles.
std::vector<int32_t> multiplied_by(const fb::OpT& op);

/// Tags each constant that a pass has created like the first operator that reads it.
void tag_constants(Graph& graph);

/// Returns the class of each constant tensor of a packed graph (embeddings, attention, ffn, heads, norms and biases),
/// "" for activations.
std::vector<std::string> tensor_classes(const Graph& graph);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_GRAPH_TENSOR_CLASSES_H_
