// Encodes a piece of text: the BERT normalizer and splitter, and the model for each word.
#ifndef BANTAM_TEXT_WORD_ENCODER_H_
#define BANTAM_TEXT_WORD_ENCODER_H_

#include <stdint.h>

#include "language.h"
#include "linked.h"
#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"
#include "text/utf8.h"
#include "text/wordpiece.h"

namespace bantam::text {

/// Finds the origins of a word's code points. There are three ways: store them; in firmware, normalize the word again;
/// or not at all.
#if !defined(BANTAM_FIRMWARE) || BANTAM_IF_LINKED(splitter_pattern) || BANTAM_IF_LINKED(splitter_metaspace)
class CharRanges {
 public:
  explicit CharRanges(const NormalStream& /*text*/) {}
  void start(const NormalStream& /*word*/) {}
  /// Stores the origin of code point number `index` of the word.
  void add(uint32_t index, const NormalChar& c) {
    begin_[index] = c.begin;
    end_[index] = c.end;
  }
  /// Returns the bytes of code points [first, end) of the word. Calls are in ascending order; `first` may be the last
  /// code point of the previous call.
  Offset span(uint32_t first, uint32_t end) const { return {begin_[first], end_[end - 1]}; }

 private:
  uint32_t begin_[kMaxWordChars];
  uint32_t end_[kMaxWordChars];
};
#endif

class CharReplay {
 public:
  explicit CharReplay(const NormalStream& text) : ahead_(text) {}
  void start(const NormalStream& word) {
    ahead_ = word;
    next_ = 0;
  }
  void add(uint32_t /*index*/, const NormalChar& /*c*/) {}
  Offset span(uint32_t first, uint32_t end) {
    while (next_ <= first && ahead_.next(&last_)) ++next_;
    const uint32_t begin = last_.begin;
    while (next_ < end && ahead_.next(&last_)) ++next_;
    return {begin, last_.end};
  }

 private:
  NormalStream ahead_;
  NormalChar last_ = {0, 0, 0};  // code point number next_ - 1
  uint32_t next_ = 0;
};

class NoRanges {
 public:
  explicit NoRanges(const NormalStream& /*text*/) {}
  void start(const NormalStream& /*word*/) {}
  void add(uint32_t /*index*/, const NormalChar& /*c*/) {}
  Offset span(uint32_t /*first*/, uint32_t /*end*/) { return {}; }
};

/// A word that is assembled from normalized code points and then looked up.
template <typename Ranges>
class Word {
 public:
  Word(const Tables& tables, const NormalStream& text, TokenSink* sink) : tables_(tables), sink_(sink), from_(text) {}

  /// Appends a code point; the word's bytes in the text grow to c.end.
  void append(const NormalChar& c) {
    if (linked::kOffsets && chars_ == 0) begin_ = c.begin;
    if (linked::kOffsets) end_ = c.end;
    if (chars_ < tables_.max_word_chars) {
      from_.add(chars_, c);
      size_ += encode_utf8(c.code, bytes_ + size_);
      ++chars_;
    } else {
      chars_ = tables_.max_word_chars + 1;
    }
  }
  /// Looks the word up, emits its tokens and empties the buffer; does nothing if it is empty.
  void flush() {
    if (chars_ == 0) return;
    bool known = false;
    if (chars_ <= tables_.max_word_chars) {
      bytes_[size_] = 0;
      uint32_t next = 0;  // the first code point after the pieces located so far
      const auto locate = [this, &next](uint32_t at, uint32_t size) {
        if constexpr (!linked::kOffsets) return Offset{};
        const uint32_t first = goes_on_code(bytes_[at]) ? next - 1 : next;
        for (uint32_t i = at; i < at + size; ++i) next += goes_on_code(bytes_[i]) ? 0 : 1u;
        // A punctuation character ends a word and is itself one: mark() was not called for it.
        return chars_ == 1 ? Offset{begin_, end_} : from_.span(first, next);
      };
      known = WordPiece::encode_word(tables_, bytes_, size_, locate, sink_);
    }
    if (!known) sink_->emit(static_cast<uint32_t>(tables_.unknown_id), begin_, end_);
    chars_ = 0;
    size_ = 0;
  }

 protected:
  const Tables& tables_;
  TokenSink* sink_;
  uint32_t chars_ = 0;
  uint32_t size_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  Ranges from_;
  uint8_t bytes_[4 * kMaxWordChars + 1];
};

#if defined(BANTAM_FIRMWARE)
using BertRanges = Choose<linked::kOffsets, CharReplay, NoRanges>;
#else
using BertRanges = Choose<linked::kOffsets, CharRanges, NoRanges>;
#endif

/// A word as BERT's splitter cuts it.
class WordBuffer : public Word<BertRanges> {
 public:
  using Word::Word;

  /// Call this before each code point is read from `stream`.
  void mark(const NormalStream& stream) {
    if (chars_ == 0) from_.start(stream);
  }
  /// Appends `c` or ends words, by the pre-tokenizer's rules.
  void feed(const NormalChar& c, uint32_t properties) {
    if ((properties & (kSpace | kPunctuation)) == 0) {
      append(c);
      return;
    }
    flush();
    if ((properties & kSpace) != 0) return;
    append(c);
    flush();
  }
};

/// White space separates words; each punctuation character is a word of its own.
struct BertSplitter {
  static Status verify(Check& check);
  static void encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_WORD_ENCODER_H_
