// Properties of code points that the BERT normalizer and pre-tokenizer need.
#ifndef BANTAM_TEXT_UNICODE_H_
#define BANTAM_TEXT_UNICODE_H_

#include <stdint.h>

#include "text/unicode/unicode_tables.h"

namespace bantam::text {

/// Firmware: the results are the same, with less code, fewer tables and smaller buffers, but more slowly.
#if defined(BANTAM_FIRMWARE)
constexpr bool kSmall = true;
#else
constexpr bool kSmall = false;
#endif

// Bits of a character class; scripts/make_unicode_tables.py writes the same.
constexpr uint32_t kControl = 1;      // removed by clean_text
constexpr uint32_t kSpace = 2;        // White_Space
constexpr uint32_t kPunctuation = 4;  // a word of its own
constexpr uint32_t kMark = 8;         // nonspacing, removed by strip_accents
constexpr uint32_t kDecomposes = 16;  // decompose_stripped() changes it
constexpr uint32_t kUpper = 32;       // lower_case() changes it
/// Rank of the canonical combining class in bits 8 and up; 0: a starter. Hangul has class 0 here.
constexpr uint32_t kRankShift = 8;

constexpr uint32_t kReplacement = 0xFFFD;
constexpr uint32_t kMaxExpansion = 3;  // most code points that one maps to

/// The same as character_class without kDecomposes and kUpper. O(size of the tables), 1.1 KB.
uint32_t compact_class(uint32_t code);

/// Class bits of `code` < 0x110000. Three dependent loads; in firmware compact_class.
inline uint32_t character_class(uint32_t code) {
  if constexpr (kSmall) return compact_class(code);
  const uint32_t middle = kClassMiddle[kClassTop[code >> 10] * 64u + (code >> 4 & 63u)];
  return kClassBits[kClassLeaf[middle * 16u + (code & 15u)]];
}

/// Returns true for the CJK blocks in which BERT treats each character as a word.
bool is_chinese(uint32_t code);

inline bool is_hangul_syllable(uint32_t code) { return code - 0xAC00u < 11172u; }

/// Decomposes a Hangul syllable into 2 or 3 code points; returns their number.
uint32_t decompose_hangul(uint32_t code, uint32_t out[kMaxExpansion]);

/// Canonical decomposition without nonspacing marks; for codes with kDecomposes and Hangul syllables. Returns the
/// number of code points written to `out`.
uint32_t decompose_stripped(uint32_t code, uint32_t out[kMaxExpansion]);

/// Lower case without context, for codes with kUpper. Returns the number of code points written.
uint32_t lower_case(uint32_t code, uint32_t out[kMaxExpansion]);

/// Returns true if an added token with single_word must not touch this character (\w of a regular expression).
bool is_word_character(uint32_t code);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_UNICODE_H_
