// A text for sliding windows: it is tokenized once, and each window is cut from its tokens.
#ifndef BANTAM_CONVERTER_RUN_LONG_TEXT_H_
#define BANTAM_CONVERTER_RUN_LONG_TEXT_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"
#include "data/mentions.h"

namespace bantam::convert {

class LongText {
 public:
  /// Tokenizes a text or, if `second` has data, a pair, over whose second text the windows slide. `all`: the result of
  /// encoding it, truncated to one window. `mentions` refer to the first text without its first `before` bytes, or to
  /// the second; they must outlive the object. Throws Error.
  LongText(const Tokenizer& tokenizer, Text first, Text second, const EncodeResult& all,
           const std::vector<Mention>& mentions, size_t before);

  /// Adds the window that begins with token `options.skip`. O(window).
  Status add(Session& session, const EncodeOptions& options) const;
  /// Returns, in their order, the mentions that may lie in the window that was added last, and all mentions of the
  /// other text. O(log(mentions) + the number of those that begin in the window or at most the longest mention's length
  /// before it).
  std::vector<Mention> mentions_in(const Session& session) const;

 private:
  bool pair_;
  uint32_t windowed_;
  std::vector<int32_t> ids_;
  std::vector<Offset> offsets_;
  TextTokens texts_[2];
  const std::vector<Mention>& mentions_;
  uint64_t before_;
  std::vector<uint32_t> by_begin_;  // mentions of the windowed text
  std::vector<uint32_t> others_;
  uint32_t longest_ = 0;  // of the longest mention of the windowed text, in bytes
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_LONG_TEXT_H_
