// Files of word vectors: a row of numbers a word, as word2vec, GloVe and fastText (.vec) write them.
#ifndef BANTAM_CONVERTER_SOURCE_VECTOR_FILE_H_
#define BANTAM_CONVERTER_SOURCE_VECTOR_FILE_H_

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

struct WordVectors {
  uint32_t width = 0;
  std::vector<std::string> words;  // none empty, none twice, at least one
  std::vector<float> values;       // [words, width], finite
};

enum class VectorFormat {
  kNone,
  kText,  // a line a word: the word and its numbers; in front of them, in word2vec's files, a line "rows columns"
  kBinary,  // the line "rows columns", then for each word its text, a blank, its numbers as f32, and perhaps the end of a line
};

/// What a file that begins with these bytes, at least a few hundred where it has them, may be. `text`: its name says it is text.
VectorFormat vector_format(std::string_view start, bool text);

/// Reads the first `most` words (0: all) of a file of `size` bytes; `name` is what messages call it. Throws Error (kInvalid) that
/// names lines, or rows, with another number of columns, without a finite number, with a word that stands there twice, and files that
/// end early: the first few of them together. Memory: the vectors.
WordVectors read_vectors(std::istream& in, uint64_t size, VectorFormat format, const std::string& name, uint32_t most);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_VECTOR_FILE_H_
