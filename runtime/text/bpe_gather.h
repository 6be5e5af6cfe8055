// Words for byte pair encoding that are not in the text as they stand: gathered a window at a time.
#ifndef BANTAM_TEXT_BPE_GATHER_H_
#define BANTAM_TEXT_BPE_GATHER_H_

#include <stdint.h>
#include <string.h>

#include "text/blank_trim.h"
#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/utf8.h"

namespace bantam::text {

/// A word's bytes and what each came from.
class BpeGather {
 public:
  BpeGather(const Tables& tables, const uint8_t* text, TokenSink* sink) : tables_(tables), text_(text), sink_(sink) {}

  /// The code points that `next(&c)` gives, which is false behind the last of them, are a word.
  template <typename Next>
  void encode(Next&& next) {
    uint32_t before = kNoToken;
    size_ = 0;
    NormalChar c = {0, 0, 0};
    for (bool more = true, begun = false; (more || size_ > 0) && !sink_->is_full();) {
      while (more && size_ < kBpeWindow) {
        more = next(&c);
        if (linked::kWordMarks && begun != more) mark(more ? kBeginMarks : kEndMarks, c);
        begun = more;
        if (more) append(c);
      }
      encode_part(&before, !more && size_ <= kBpeWindow);
    }
  }

 private:
  static constexpr uint32_t kLongestCode = linked::kWordMarks ? 5 : 4;  // with a mark

  /// The mark of a word's beginning or end, where tokens have it, beside `c`.
  void mark(uint32_t which, const NormalChar& c) {
    if ((tables_.traits & which) == 0) return;
    bytes_[size_] = which == kBeginMarks ? kBeginMark : kEndMark;
    from_[size_] = c.begin;
    to_[size_++] = c.end;
  }

  void append(const NormalChar& c) {
    const uint32_t size = encode_utf8(c.code, bytes_ + size_);
    for (uint32_t i = 0; i < size; ++i) {
      from_[size_ + i] = c.begin;
      to_[size_ + i] = c.end;
    }
    size_ += size;
  }

  void encode_part(uint32_t* before, bool ends) {
    const auto locate = [this](uint32_t at, uint32_t size) {
      Offset where = {from_[at], to_[at + size - 1]};
      if (trims_blanks(tables_)) trim_bytes(tables_, text_, bytes_ + at, size, *sink_, &where);
      return where;
    };
    const uint32_t window = size_ < kBpeWindow ? size_ : kBpeWindow;
    const uint32_t done = window == 0 ? 0 : Bpe::encode_part(tables_, before, bytes_, window, ends, locate, sink_);
    size_ -= done;
    memmove(bytes_, bytes_ + done, size_);
    memmove(from_, from_ + done, size_ * sizeof(from_[0]));
    memmove(to_, to_ + done, size_ * sizeof(to_[0]));
  }

  const Tables& tables_;
  const uint8_t* text_;
  TokenSink* sink_;
  uint32_t size_ = 0;
  uint8_t bytes_[kBpeWindow + kLongestCode];
  uint32_t from_[kBpeWindow + kLongestCode];
  uint32_t to_[kBpeWindow + kLongestCode];
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BPE_GATHER_H_
