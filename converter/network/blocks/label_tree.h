// Hierarchical softmax: labels as leaves of a binary tree, each inner node of which shares its probability out (Morin and Bengio 2005).
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_LABEL_TREE_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_LABEL_TREE_H_

#include <cstdint>

#include "graph/builder.h"
#include "source/weights.h"

namespace bantam::convert {

/// Whether the weights hold such a head (source/word_vectors.h names its tensors).
bool has_label_tree(const Weights& weights);

/// Appends it over rows x; the result's columns are the logarithms of labels' probabilities, which their softmax leaves as they are.
int32_t add_label_tree(Builder& builder, Weights& weights, int32_t x, uint32_t labels);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_LABEL_TREE_H_
