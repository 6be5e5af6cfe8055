// Streams text as its tokens arrive, up to a text that ends it.
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

/// Receives text as soon as it is final.
using TakeText = std::function<void(std::string_view)>;

/// The text of all tokens so far. It passes on the part after the prompt, and holds back text that could be the
/// beginning of a stop text. It is not movable, because the decoder writes to it.
class TextStream {
 public:
  /// `tokenizer`, `stop` and `take` (which may be null) must outlive the stream.
  TextStream(const Tokenizer& tokenizer, const std::vector<int32_t>& prompt, const std::vector<std::string>& stop,
             const TakeText& take);
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  /// Returns false if the text has ended.
  bool add(int32_t id);
  /// Returns the text after the prompt.
  std::string finish();

 private:
  bool show(bool last);
  size_t longest_beginning() const;

  const std::vector<std::string>& stop_;
  const TakeText& take_;
  TextDecoder decoder_;
  std::string text_;
  size_t begin_ = 0;  // beginning of the text after the prompt
  size_t shown_ = 0;
  bool stopped_ = false;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_TEXT_STREAM_H_
