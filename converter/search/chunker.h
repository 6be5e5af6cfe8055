// Cuts texts that are longer than a model reads into overlapping chunks.
#ifndef BANTAM_CONVERTER_SEARCH_CHUNKER_H_
#define BANTAM_CONVERTER_SEARCH_CHUNKER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bantam/tasks.h"
#include "run/engine.h"

namespace bantam::convert {

class Chunker {
 public:
  /// `file` must outlive the chunker. Adjacent chunks share at least `stride` tokens. `role`: the prompt of this role
  /// stands before each chunk. Throws Error: kUsage if chunks cannot share that many tokens, or the file has no
  /// tokenizer.
  Chunker(const ModelFile& file, TextRole role, uint32_t stride);

  /// Returns the text itself if the model reads it whole, otherwise its chunks in order, without blanks at their ends.
  /// Chunks begin and end between words where the text has blanks. Throws Error.
  std::vector<std::string> cut(const std::string& text) const;

 private:
  std::string_view part(const std::string& text, const std::vector<Offset>& tokens, size_t begin, size_t end) const;
  bool fits(std::string_view text) const;
  /// Returns the tokens of a text without special ones.
  std::vector<Offset> tokens_of(std::string_view text) const;

  const std::string& path_;
  Tokenizer tokenizer_;
  std::string prompt_;
  uint32_t stride_;
  uint32_t most_ = 0;  // tokens of a text with its prompt and special tokens; 0: no limit
  uint32_t size_ = 0;  // tokens of a chunk
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SEARCH_CHUNKER_H_
