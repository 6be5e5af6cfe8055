// The generated Unicode tables (scripts/make_unicode_tables.py); use them through unicode.h.
#ifndef BANTAM_TEXT_UNICODE_TABLES_H_
#define BANTAM_TEXT_UNICODE_TABLES_H_

#include <stdint.h>

namespace bantam::text {

/// first + i * stride maps to itself + delta, for i in [0, count).
struct LowerRange {
  uint32_t first;
  uint16_t count;
  uint16_t stride;
  int32_t delta;
};

// Class of code point c: kClassBits[kClassLeaf[kClassMiddle[kClassTop[c >> 10] * 64 + (c >> 4 & 63)] * 16 + (c & 15)]].
extern const uint16_t kClassBits[];
extern const uint8_t kClassTop[];
extern const uint16_t kClassMiddle[];
extern const uint8_t kClassLeaf[];

// The same for firmware: unicode_compact.cpp.
extern const uint8_t kCompactValues[];
extern const uint32_t kCompactIndex[];
extern const uint8_t kCompactRuns[];

/// Combining class ranks, ascending, of the nonstarters that are not nonspacing marks.
extern const uint8_t kSurvivorRanks[];
extern const uint32_t kSurvivorRankCount;

/// begin, end, begin, end ... of the word characters: below U+10000, and the others.
extern const uint16_t kWordLow[];
extern const uint32_t kWordLowCount;
extern const uint32_t kWordHigh[];
extern const uint32_t kWordHighCount;

extern const uint16_t kStripFrom[];
extern const uint16_t kStripTo[];
extern const uint32_t kStripCount;
extern const uint32_t kStripLong[];
extern const uint32_t kStripLongCount;
extern const uint16_t kStripCjk[];
extern const uint8_t kStripCjkPlane2[];

extern const LowerRange kLower[];
extern const uint32_t kLowerCount;

}  // namespace bantam::text

#endif  // BANTAM_TEXT_UNICODE_TABLES_H_
