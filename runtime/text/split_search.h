// Searches for the end of a word with the tables of split_table.h.
#ifndef BANTAM_TEXT_SPLIT_SEARCH_H_
#define BANTAM_TEXT_SPLIT_SEARCH_H_

#include <stdint.h>

#include "text/normalizer.h"
#include "text/split_table.h"

namespace bantam::text {

constexpr uint32_t kAtEnd = 0;  // entry for the end of the text

/// Limits how much text searches for longer words may read after the end of a match, in bytes or code points. Published
/// patterns read two or three after a word, and white space twice.
class Reserve {
 public:
  explicit Reserve(uint64_t size) : left_(8 * size) {}
  bool allows(uint32_t behind) const { return behind <= left_ || behind <= kAlways; }
  void take(uint32_t behind) { left_ -= behind < left_ ? behind : left_; }

 private:
  static constexpr uint32_t kAlways = 16;
  uint64_t left_;
};

/// The result of a word search: the class of its first code point, and the state that detected its end.
struct SeenWord {
  uint32_t lead = kAtEnd;
  uint32_t state = 0;
};

/// Returns the length of the next word, at most `most` code points; 0 at the end. `stream` has next(NormalChar*), which
/// returns false at its end.
template <typename Split, typename Stream>
uint32_t word_length(const Split& split, Stream stream, uint32_t most, Reserve* reserve, SeenWord* seen) {
  uint32_t state = split.start;
  uint32_t match = 0;
  uint32_t at = 0;
  for (; state != 0; ++at) {
    NormalChar c;
    const bool more = at < most && stream.next(&c);
    if (!more && at == 0) return 0;
    const uint32_t kind = more ? split.class_of(c.code) : kAtEnd;
    if (at == 0) seen->lead = kind;
    const uint32_t entry = split.next[state + kind];
    if ((entry & kSplitMatch) != 0) {
      match = at;
      seen->state = state;
    } else if (!reserve->allows(at - match)) {
      break;
    }
    state = entry & (kSplitMatch - 1);
  }
  const uint32_t back = split.back(seen->state);
  match -= back < match ? back : match;
  reserve->take(at - match);
  return match > 0 ? match : 1;
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_SPLIT_SEARCH_H_
