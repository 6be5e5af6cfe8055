// The code points that lower case and accent stripping yield, as far as a vocabulary can distinguish them: blob
// `char_map` of a tokenizer with BERT's normalizer. Firmware, which has no tables of Unicode's mappings, reads this
// blob instead.
//
//   u8 version, 1; then runs, ascending:
//   varint  code points between the previous run's last (at first: -1) and this run's first
//   varint  (count - 1) << 2 | kind
//   kind 0  varint target: count code points become this one
//   kind 1  varint zigzag(delta): count code points, each becomes itself + delta
//   kind 2  like kind 1, for every second code point
//   kind 3  count varints: the one code point becomes these
// A varint has 7 bits per byte, the highest first; bit 7 is set in all bytes but the last.
//
// The map omits ASCII and Hangul syllables, which need no table, and code points for which it makes no difference:
// neither they nor some part of their result occurs in any token (the word is unknown either way), and neither splits
// words.
#ifndef BANTAM_TEXT_CHAR_MAP_H_
#define BANTAM_TEXT_CHAR_MAP_H_

#include <stdint.h>

#include "text/unicode/unicode.h"

namespace bantam::text {

constexpr uint8_t kCharMapVersion = 1;

enum class MapRun : uint32_t { kSame = 0, kShift = 1, kSecond = 2, kSequence = 3 };

/// View of such a blob after its version; any bytes are safe to read.
struct CharMap {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;

  /// Writes the code points that `code` becomes and returns their number; 0: itself. O(bytes of the blob).
  uint32_t find(uint32_t code, uint32_t out[kMaxExpansion]) const;
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_CHAR_MAP_H_
