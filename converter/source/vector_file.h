// Reads files of word vectors, one row of numbers per word, in the formats of word2vec, GloVe and fastText (.vec).
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
  std::vector<std::string> words;  // not empty, unique, at least one
  std::vector<float> values;       // [words, width], finite
};

enum class VectorFormat {
  kNone,
  /// One line per word: the word and its numbers; word2vec's files begin with a line "rows columns".
  kText,
  /// The line "rows columns", then for each word its text, a space, its numbers as f32, and optionally a newline.
  kBinary,
};

/// Returns the format that a file with these first bytes may have; `start` needs a few hundred bytes if the file has
/// them. `text`: its name indicates a text file.
VectorFormat vector_format(std::string_view start, bool text);

/// Reads the first `most` words (0: all) of a file of `size` bytes; messages call it `name`. Throws Error (kInvalid)
/// that names the first few bad lines or rows: with another number of columns, a number that is not finite, or a
/// repeated word; also if the file ends early. Memory: the vectors.
WordVectors read_vectors(std::istream& in, uint64_t size, VectorFormat format, const std::string& name, uint32_t most);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_VECTOR_FILE_H_
