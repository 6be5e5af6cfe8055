// Hierarchical softmax: labels are leaves of a binary tree, each inner node of which divides its probability between
// its children (Morin and Bengio 2005).
#ifndef BANTAM_CONVERTER_NETWORK_BLOCKS_LABEL_TREE_H_
#define BANTAM_CONVERTER_NETWORK_BLOCKS_LABEL_TREE_H_

#include <cstdint>

#include "graph/builder.h"
#include "source/weights.h"

namespace bantam::convert {

/// True if the weights hold such a head (source/word_vectors.h names its tensors).
bool has_label_tree(const Weights& weights);

/// Appends the head over rows x; the result's columns are the log probabilities of the labels, which a softmax does not
/// change.
int32_t add_label_tree(Builder& builder, Weights& weights, int32_t x, uint32_t labels);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_NETWORK_BLOCKS_LABEL_TREE_H_
