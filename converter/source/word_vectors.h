// Word vectors: a file of word2vec, GloVe or fastText, or a directory with one, possibly with a classifier of their
// averages.
#ifndef BANTAM_CONVERTER_SOURCE_WORD_VECTORS_H_
#define BANTAM_CONVERTER_SOURCE_WORD_VECTORS_H_

namespace bantam::convert {

/// model_type of such a directory's config.json.
constexpr const char* kWordVectors = "word-vectors";

/// Tensors of a classifier that is a binary tree of labels (hierarchical softmax): one row per inner node, whose
/// sigmoid is the probability of its second child, and the two children of each node, as in the operator Tree
/// (schemas).
constexpr const char* kLabelTree = "classifier.tree.weight";
constexpr const char* kLabelNodes = "classifier.tree.nodes";

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_WORD_VECTORS_H_
