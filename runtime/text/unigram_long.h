// Words of any length for the unigram model, in limited memory: runs Viterbi's algorithm while the word is read, and
// emits a path as soon as all paths share it.
//
// All paths pass through a position that no token crosses, so the path up to it is final. If there is no such position
// in kUnigramWindow bytes, which requires a word whose tokens all overlap, such as one letter repeated, the path to the
// window's end is taken.
#ifndef BANTAM_TEXT_UNIGRAM_LONG_H_
#define BANTAM_TEXT_UNIGRAM_LONG_H_

#include <string.h>

#include "text/unigram.h"
#include "text/utf8.h"

namespace bantam::text {

constexpr uint32_t kUnigramWindow = kSmall ? 2048 : 16384;

/// `Chars`: a copyable stream of a word's code points, bool next(NormalChar*).
template <typename Chars>
class LongWord {
 public:
  LongWord(const Tables& tables, const Chars& word, TokenSink* sink)
      : tables_(tables), ahead_chars_(word), behind_chars_(word), sink_(sink) {}

  void encode() {
    slot(0) = {0, true};
    for (at_ = 0; !sink_->is_full();) {
      fill();
      if (ahead_size_ == 0) break;
      if (at_ > 0 && reach_ == at_) certain_ = at_;
      if (at_ + kMaxUnigramToken > kUnigramWindow) settle();
      const uint32_t size = step();
      for (uint32_t i = 0; i < size; ++i) slot(at_ + i).reached = false;
      at_ += size;
      ahead_size_ -= size;
      ahead_ += size;
    }
    certain_ = at_;
    if (certain_ > 0) settle();
    end_unknown();
  }

 private:
  struct Slot {
    double best;
    bool reached;
  };
  static constexpr uint32_t kSlots = 256;  // more than kMaxUnigramToken
  static_assert(kSlots > kMaxUnigramToken);

  Slot& slot(uint32_t at) { return slots_[(origin_ + at) % kSlots]; }

  /// Ensures that bytes_[ahead_) has as much of the word as the longest token needs.
  void fill() {
    if (ahead_size_ >= kMaxUnigramToken || ended_) return;
    memmove(bytes_, bytes_ + ahead_, ahead_size_);
    ahead_ = 0;
    while (ahead_size_ + 4 <= sizeof(bytes_)) {
      NormalChar c;
      if (!ahead_chars_.next(&c)) {
        ended_ = true;
        return;
      }
      ahead_size_ += encode_utf8(c.code, bytes_ + ahead_size_);
    }
  }

  /// Extends paths by all tokens that begin at at_; returns the size of its code point.
  uint32_t step() {
    const double here = slot(at_).best;
    const uint8_t* bytes = bytes_ + ahead_;
    const uint32_t size = code_size(bytes[0]);
    bool single = false;
    const auto offer = [&](double score, uint32_t length) {
      const uint32_t end = at_ + length;
      Slot& target = slot(end);
      const double sum = score + here;
      if (end > reach_) reach_ = end;
      if (target.reached && sum <= target.best) return;
      target = {sum, true};
      lengths_[end] = static_cast<uint8_t>(length);
    };
    tables_.lexicon.each_prefix(bytes, ahead_size_ < kMaxUnigramToken ? ahead_size_ : kMaxUnigramToken,
                                [&](uint32_t id, uint32_t length) {
                                  offer(tables_.scores.of(id), length);
                                  single = single || length == size;
                                });
    if (!single) offer(tables_.scores.unknown, size);
    return size;
  }

  /// Emits the path to certain_, or to at_, and moves the beginning of the window there.
  void settle() {
    if (certain_ == 0) {
      for (uint32_t end = at_ + 1; end <= reach_; ++end) slot(end).reached = false;
      reach_ = at_;
      certain_ = at_;
    }
    // Converts lengths stored at the ends of tokens to lengths stored at their beginnings.
    uint8_t length = lengths_[certain_];
    for (uint32_t at = certain_; at > 0;) {
      at -= length;
      const uint8_t before = lengths_[at];
      lengths_[at] = length;
      length = before;
    }
    for (uint32_t at = 0; at < certain_; at += lengths_[at]) emit(lengths_[at]);
    memmove(lengths_, lengths_ + certain_, reach_ - certain_ + 1);
    origin_ += certain_;
    at_ -= certain_;
    reach_ -= certain_;
    certain_ = 0;
  }

  /// Emits the next `size` bytes of the word as a token, or as unknown.
  void emit(uint32_t size) {
    uint8_t bytes[kMaxUnigramToken + 4];
    NormalChar first = {0, 0, 0};
    NormalChar c = {0, 0, 0};
    uint32_t got = 0;
    while (got < size && behind_chars_.next(&c)) {
      if (got == 0) first = c;
      got += encode_utf8(c.code, bytes + got);
    }
    uint32_t id = kNoToken;
    tables_.lexicon.each_prefix(bytes, got, [&](uint32_t found, uint32_t length) {
      if (length == got && found != tables_.scores.unknown_id) id = found;
    });
    if (id != kNoToken) {
      end_unknown();
      emit_known(tables_, id, {first.begin, c.end}, sink_);
      return;
    }
    if (!is_unknown_) {
      unknown_ = {first.begin, c.end};
      unknown_blanks_ = {};
      unknown_count_ = sink_->count;
    }
    is_unknown_ = true;
    unknown_.end = c.end;
    if constexpr (linked::kTrimmedBlanks) {
      if (tables_.trim_blanks) unknown_blanks_.add_token(tables_, bytes, got);
    }
    if (tables_.of_byte != nullptr) emit_unknown(tables_, bytes, got, unknown_, unknown_blanks_, sink_);
  }

  void end_unknown() {
    if (!is_unknown_) return;
    is_unknown_ = false;
    if (tables_.of_byte == nullptr) {
      emit_unknown(tables_, nullptr, 0, unknown_, unknown_blanks_, sink_);
    } else {
      sink_->set_end(unknown_count_, unknown_.end);
    }
  }

  const Tables& tables_;
  Chars ahead_chars_;
  Chars behind_chars_;  // at the window's beginning
  TokenSink* sink_;
  uint32_t origin_ = 0;   // position of the window's beginning in slots_
  uint32_t at_ = 0;       // relative to the window's beginning
  uint32_t reach_ = 0;    // end of the longest token so far
  uint32_t certain_ = 0;  // the last position on all paths; 0: none
  uint32_t ahead_ = 0;
  uint32_t ahead_size_ = 0;
  bool ended_ = false;
  bool is_unknown_ = false;
  Offset unknown_ = {};
  EdgeBlanks unknown_blanks_;
  uint32_t unknown_count_ = 0;  // tokens before the unknown text
  Slot slots_[kSlots] = {};
  uint8_t bytes_[2 * kMaxUnigramToken + 4];
  uint8_t lengths_[kUnigramWindow + kMaxUnigramToken + 1] = {};
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_UNIGRAM_LONG_H_
