// fastText's supervised models (.bin, .ftz): words, hashed n-grams, a table of vectors and an output layer over labels
// (Joulin et al., arXiv 1607.01759, 1612.03651).
#ifndef BANTAM_CONVERTER_SOURCE_FASTTEXT_H_
#define BANTAM_CONVERTER_SOURCE_FASTTEXT_H_

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "source/checkpoint.h"

namespace bantam::convert {

/// The magic number at the start of every such file, 4 bytes, little-endian.
constexpr uint32_t kFastTextMagic = 793712314;

enum class FastTextLoss { kHierarchical = 1, kNegative = 2, kSoftmax = 3, kOneVsAll = 4 };

struct FastTextModel {
  uint32_t width = 0;
  FastTextLoss loss = FastTextLoss::kSoftmax;
  uint32_t word_grams = 1, min_gram = 0, max_gram = 0, buckets = 0;
  std::vector<std::string> words;
  std::vector<std::string> labels;     // without "__label__" if all have that prefix
  std::vector<uint64_t> label_counts;  // in the training data
  bool all_grams = true;               // false: a pruned model that has only the n-grams with the numbers in `grams`
  std::vector<uint32_t> grams;         // ascending
  MemoryTensor table;                  // [words, then n-grams in the order of their numbers; width]
  // [labels, width]; kHierarchical: row i belongs to inner node i, and the last row is unused
  MemoryTensor output;
};

/// Reads a file of `size` bytes; messages call it `name`. Expands product quantization to plain numbers. Throws Error:
/// kInvalid if the file is damaged or truncated, kUnsupported for unsupervised models and for newer versions. Memory:
/// the table as f32, within the MemoryBudget of the file.
FastTextModel read_fasttext(std::istream& in, uint64_t size, const std::string& name);

/// Returns the two children of each inner node in the tree of labels, [inner, 2]: a number n below `labels` is a label,
/// otherwise the inner node n - labels. The last inner node is the root. It is the Huffman tree that fastText builds
/// from label counts in non-ascending order.
std::vector<int32_t> fasttext_tree(const std::vector<uint64_t>& counts);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_FASTTEXT_H_
