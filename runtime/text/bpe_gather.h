// Words for byte pair encoding that are not in the text in this form: gathered one window at a time.
#ifndef BANTAM_TEXT_BPE_GATHER_H_
#define BANTAM_TEXT_BPE_GATHER_H_

#include <stdint.h>
#include <string.h>

#include "text/bpe.h"
#include "text/normalizer.h"
#include "text/utf8.h"

namespace bantam::text {

/// Finds the token that equals a whole word, whose bytes arrive a few at a time.
class WholeWord {
 public:
  explicit WholeWord(const Lexicon& lexicon) : lexicon_(lexicon), base_(lexicon.roots->vocabulary) {}

  void read(const uint8_t* bytes, uint32_t size) {
    for (uint32_t i = 0; i < size && goes_on_; ++i) {
      goes_on_ = leaf_ == kNoToken ? step(bytes[i]) : size_ < leaf_size() && leaf_byte(size_) == bytes[i];
      ++size_;
    }
  }
  /// Returns the token; kNoToken if there is none.
  uint32_t id() const {
    if (!goes_on_) return kNoToken;
    if (leaf_ != kNoToken) return size_ == leaf_size() ? leaf_ : kNoToken;
    return accepts_ ? lexicon_.value(base_) : kNoToken;
  }

 private:
  bool step(uint8_t byte) {
    const uint32_t c = byte == 0 ? kZeroLabel : byte;
    const uint32_t unit = lexicon_.units[base_ ^ c];
    if ((unit & 0xFF) != c || byte >= kZeroLabel) return false;
    base_ = unit >> kUnitBaseShift;
    accepts_ = (unit & kUnitAccept) != 0;
    if ((unit & kUnitLeaf) != 0) leaf_ = base_;
    return true;
  }
  uint32_t leaf_size() const { return lexicon_.begin[leaf_ + 1] - lexicon_.begin[leaf_]; }
  uint8_t leaf_byte(uint32_t at) const { return lexicon_.text[lexicon_.begin[leaf_] + at]; }

  const Lexicon& lexicon_;
  uint32_t base_;
  uint32_t leaf_ = kNoToken;  // the only remaining token
  uint32_t size_ = 0;
  bool accepts_ = false;
  bool goes_on_ = true;
};

/// The bytes of a word and the origin of each.
class BpeGather {
 public:
  BpeGather(const Tables& tables, TokenSink* sink) : tables_(tables), sink_(sink) {}

  /// Encodes a word of the code points that `next(&c)` returns until it is false.
  template <typename Next>
  void encode(Next&& next) {
    if (Bpe::is_word_level(tables_)) return encode_whole(next);
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
  static constexpr uint32_t kLongestCode = linked::kWordMarks ? 5 : 4;  // including a mark

  template <typename Next>
  void encode_whole(Next&& next) {
    WholeWord word(tables_.lexicon);
    Offset where = {};
    bool begun = false;
    for (NormalChar c = {0, 0, 0}; next(&c); begun = true) {
      uint8_t bytes[4];
      word.read(bytes, encode_utf8(c.code, bytes));
      where = {begun ? where.begin : c.begin, c.end};
    }
    if (begun) Bpe::emit_whole(tables_, word.id(), where, sink_);
  }

  /// Adds the mark of a word's beginning or end next to `c`, if the vocabulary has such marks.
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
    const auto locate = [this](uint32_t at, uint32_t size) { return Offset{from_[at], to_[at + size - 1]}; };
    const uint32_t window = size_ < kBpeWindow ? size_ : kBpeWindow;
    const uint32_t done = window == 0 ? 0 : Bpe::encode_part(tables_, before, bytes_, window, ends, locate, sink_);
    size_ -= done;
    memmove(bytes_, bytes_ + done, size_);
    memmove(from_, from_ + done, size_ * sizeof(from_[0]));
    memmove(to_, to_ + done, size_ * sizeof(to_[0]));
  }

  const Tables& tables_;
  TokenSink* sink_;
  uint32_t size_ = 0;
  uint8_t bytes_[kBpeWindow + kLongestCode];
  uint32_t from_[kBpeWindow + kLongestCode];
  uint32_t to_[kBpeWindow + kLongestCode];
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BPE_GATHER_H_
