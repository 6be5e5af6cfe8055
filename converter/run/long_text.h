// A text that windows slide over: it becomes tokens once, and each window is cut from them.
#ifndef BANTAM_CONVERTER_RUN_LONG_TEXT_H_
#define BANTAM_CONVERTER_RUN_LONG_TEXT_H_

#include <cstdint>
#include <vector>

#include "bantam/session.h"
#include "data/mentions.h"

namespace bantam::convert {

class LongText {
 public:
  /// A text, or (`second` with data) a pair, the second of which windows slide over. `all`: what encoding it, cut to one window, said.
  /// `mentions` are of the first text behind its first `before` bytes, or of the second; they outlive the object. Throws Error.
  LongText(const Tokenizer& tokenizer, Text first, Text second, const EncodeResult& all,
           const std::vector<Mention>& mentions, size_t before);

  /// Adds the window that begins with token `options.skip`. O(window).
  Status add(Session& session, const EncodeOptions& options) const;
  /// Mentions, in their order, that may lie in the window that was added last; of the other text all. O(log(mentions) + those that begin
  /// in the window, or in front of it by no more than the longest has bytes).
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
  uint32_t longest_ = 0;  // of the windowed text's, in bytes
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_LONG_TEXT_H_
