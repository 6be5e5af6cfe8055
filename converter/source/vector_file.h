// Reads files of word vectors: a row of numbers per word, as word2vec, GloVe and fastText (.vec) write them.
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

/// Returns the possible format of a file that begins with these bytes, at least a few hundred if it has them. `text`:
/// its name says that it is text.
VectorFormat vector_format(std::string_view start, bool text);

/// Reads the first `most` words (0: all) of a file of `size` bytes; messages call it `name`. Throws Error (kInvalid)
/// that names lines, or rows, with another number of columns, with a number that is not finite, or with a word that
/// occurs twice, and files that end early: the first few of them together. Memory: the vectors.
WordVectors read_vectors(std::istream& in, uint64_t size, VectorFormat format, const std::string& name, uint32_t most);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_VECTOR_FILE_H_
