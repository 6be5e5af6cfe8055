// How texts are split into words before BPE, according to a GGUF file's "tokenizer.ggml.pre".
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_SPLITS_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_SPLITS_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// A sequence of splits: each isolates its pattern's matches within the words of the previous split. Then words are
/// converted to bytes.
struct GgufSplits {
  std::array<std::string_view, 6> names;
  std::array<const char*, 6> patterns;  // null after the last one; kGpt2Words among them is ByteLevel's pattern
  bool whole_words = false;             // words that are tokens are not merged
  bool begins = false;                  // texts begin with the first token, unless the file says otherwise
};

/// Null if llama.cpp has no such name, or if its rules cannot be expressed as patterns.
const GgufSplits* gguf_splits(std::string_view name);
/// All names that have a row.
std::vector<std::string_view> gguf_split_names();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_SPLITS_H_
