// The BERT normalizer as a stream: code point after code point, each with the bytes of the text that it came from.
#ifndef BANTAM_TEXT_NORMALIZER_H_
#define BANTAM_TEXT_NORMALIZER_H_

#include <stdint.h>

#include "linked.h"
#include "text/char_map.h"
#include "text/unicode/unicode.h"

namespace bantam::text {

/// True if this build needs the bytes of the text that a code point came from. If not, they are not computed for
/// reordered code points.
constexpr bool kPlaced = linked::kOffsets || linked::kNormalizedTokens;

struct Normalization {
  bool clean_text = false;
  bool split_chinese = false;
  bool lowercase = false;
  bool strip_accents = false;
  CharMap map = {};  // firmware only: combines lowercase and strip_accents
};

/// A code point after normalization and the half-open byte range of the original text that it represents.
struct NormalChar {
  uint32_t code;
  uint32_t begin;
  uint32_t end;
};

/// Normalizes text[begin, end) lazily: clean_text removes control characters and replaces all white space by U+0020,
/// split_chinese puts spaces around ideographs, strip_accents decomposes canonically (NFD, including reordering) and
/// drops nonspacing marks, lowercase maps each code point by itself. Needs no buffer: reordering reads the text again.
/// O(bytes) in total. Copy it to look ahead.
class NormalStream {
 public:
  NormalStream(const Normalization& rules, const uint8_t* text, uint32_t begin, uint32_t end)
      : text_(text), at_(begin), end_(end), rules_(rules) {}

  /// Returns the next code point; false at the end of the text, `out` is then unchanged.
  bool next(NormalChar* out) {
    if (queue_at_ < queue_size_) {
      *out = {queue_[queue_at_++], char_begin_, char_end_};
      return true;
    }
    if (!kSmall && at_ < end_ && text_[at_] - 0x20u < 0x5F &&
        !in_run_) {  // printed ASCII: nothing but its case can change
      const uint32_t c = text_[at_];
      const bool upper = rules_.lowercase && c - 'A' <= 'Z' - 'A';
      *out = {upper ? c + 32 : c, at_, at_ + 1};
      ++at_;
      return true;
    }
    return next_slow(out);
  }

  /// Returns true if all code points of the text before position() have been returned.
  bool is_settled() const { return queue_at_ == queue_size_ && !in_run_; }
  uint32_t position() const { return at_; }

 private:
  /// A code point of the text after cleaning.
  struct Clean {
    uint32_t code;
    uint32_t properties;
    uint32_t begin;
    uint32_t end;
  };

  bool next_slow(NormalChar* out);
  bool read(uint32_t* at, Clean* out) const;
  void expand(const Clean& c);
  void expand_small(const Clean& c);
  void enqueue(uint32_t code);
  bool begin_run();
  bool next_in_run(NormalChar* out);
  void begin_rank();
  void align(uint32_t index, NormalChar* out);

  const uint8_t* text_;
  uint32_t at_;
  uint32_t end_;
  Normalization rules_;

  // Expansion of the character [char_begin_, char_end_).
  uint8_t queue_at_ = 0;
  uint8_t queue_size_ = 0;
  bool in_run_ = false;
  uint8_t run_rank_ = 0;  // index into kSurvivorRanks
  uint8_t lead_at_ = 0;   // next element of lead_ in this rank
  uint8_t lead_size_ = 0;
  uint32_t queue_[kMaxExpansion + 2] = {};
  uint32_t char_begin_ = 0;
  uint32_t char_end_ = 0;

  // A run of nonstarters, some of which survive: see normalizer.cpp.
  uint32_t lead_[kMaxExpansion] = {};  // nonstarters in the decomposition of the character before the run
  uint32_t run_begin_ = 0;
  uint32_t run_end_ = 0;
  uint32_t scan_ = 0;    // position of the scan for this rank
  uint32_t before_ = 0;  // characters of the run that sort before the one searched for
  uint32_t cursor_ = 0;  // end of character number cursor_index_ of the run
  uint32_t cursor_index_ = 0;
  uint32_t cursor_begin_ = 0;
  uint32_t cursor_end_ = 0;
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_NORMALIZER_H_
