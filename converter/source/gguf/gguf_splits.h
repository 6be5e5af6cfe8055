// How texts are cut into words in front of BPE, by a GGUF file's "tokenizer.ggml.pre".
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_SPLITS_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_SPLITS_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// A row of splits, each of which sets its pattern's matches apart within the words of the one before; then words become bytes.
struct GgufSplits {
  std::array<std::string_view, 6> names;
  std::array<const char*, 6> patterns;  // as many as are not null; kGpt2Words among them is ByteLevel's own
  bool whole_words = false;             // words that are tokens are not merged
  bool begins = false;                  // texts begin with the first token unless the file says otherwise
};

/// Null: llama.cpp has no such name, or what it does cannot be said in patterns.
const GgufSplits* gguf_splits(std::string_view name);
/// Every name with a row.
std::vector<std::string_view> gguf_split_names();

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_SPLITS_H_
