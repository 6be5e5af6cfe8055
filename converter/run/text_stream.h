// Streams the text of tokens as they arrive, up to one of the texts that end it.
#ifndef BANTAM_CONVERTER_RUN_TEXT_STREAM_H_
#define BANTAM_CONVERTER_RUN_TEXT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bantam/decode.h"

namespace bantam::convert {

/// Takes text as soon as it is known.
using TakeText = std::function<void(std::string_view)>;

/// The text of all tokens so far; it passes on the part behind the prompt. Holds back text that could be the beginning
/// of a stop text. Not movable: the decoder writes to it.
class TextStream {
 public:
  /// `tokenizer`, `stop` and `take` (which may be null) outlive the stream.
  TextStream(const Tokenizer& tokenizer, const std::vector<int32_t>& prompt, const std::vector<std::string>& stop,
             const TakeText& take);
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  /// Returns false if the text has ended.
  bool add(int32_t id);
  /// Returns the text behind the prompt.
  std::string finish();

 private:
  bool show(bool last);
  size_t longest_beginning() const;

  const std::vector<std::string>& stop_;
  const TakeText& take_;
  TextDecoder decoder_;
  std::string text_;
  size_t begin_ = 0;  // of what follows the prompt
  size_t shown_ = 0;
  bool stopped_ = false;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TEXT_STREAM_H_
