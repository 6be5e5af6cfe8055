// Word vectors: a file of word2vec, GloVe or fastText, or a directory of one, perhaps with a classifier of their averages.
#ifndef BANTAM_CONVERTER_SOURCE_WORD_VECTORS_H_
#define BANTAM_CONVERTER_SOURCE_WORD_VECTORS_H_

#include <filesystem>

#include "source/model_source.h"

namespace bantam::convert {

/// model_type of such a directory's config.json.
constexpr const char* kWordVectors = "word-vectors";

/// Of a classifier that is a binary tree of labels (hierarchical softmax): a row an inner node, whose sigmoid is the share of its
/// second child, and both children of each, as the operator Tree has them (schemas).
constexpr const char* kLabelTree = "classifier.tree.weight";
constexpr const char* kLabelNodes = "classifier.tree.nodes";

/// True of a file that such vectors, or a fastText model, may be in, by itself: no config.json lies beside it that would say more.
bool is_word_vectors_file(const std::filesystem::path& named);

/// True of such a file, and of a directory where config.json says kWordVectors, or where there is none and a file is there that such
/// vectors may be in. Throws Error for JSON that cannot be read.
bool is_word_vectors(const std::filesystem::path& named);

/// Such a directory or file as a model whose config.json says kWordVectors: its tensor "embeddings" has a row a word (fastText: and
/// a row an n-gram), "classifier.weight" and "classifier.bias" are those of classifier.safetensors or of fastText's output layer
/// (or kLabelTree and kLabelNodes), and the tokenizer is a list of words. docs/wordvectors.md has the files and settings. Throws
/// Error. Memory: the table as f32.
ModelSource open_word_vectors(const std::filesystem::path& named);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_WORD_VECTORS_H_
