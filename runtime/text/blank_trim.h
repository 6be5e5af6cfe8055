// Offsets without the blanks with which tokens begin or end, as Hugging Face's byte-level post-processors leave them out.
#ifndef BANTAM_TEXT_BLANK_TRIM_H_
#define BANTAM_TEXT_BLANK_TRIM_H_

#include <stdint.h>

#include "linked.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

inline bool trims_blanks(const Tables& tables) {
  return linked::kOffsets && linked::splitter(static_cast<uint32_t>(fb::SplitterKind::pattern)) && tables.trim_blanks;
}

/// Whether the code point counts as a blank of an added token: white space, or the letter that stands for a blank among bytes.
bool is_trimmed(uint32_t code);

/// Takes a token's blanks away from its offsets: `leading` and `trailing` of them, but at most the code points that lie in
/// *where, of which the text may have fewer or others (prefix_blank). For the token that the sink gets next.
void trim_blanks(const Tables& tables, const uint8_t* text, uint32_t leading, uint32_t trailing, const TokenSink& sink,
                 Offset* where);

/// The same for a token that is bytes[0, size).
inline void trim_bytes(const Tables& tables, const uint8_t* text, const uint8_t* bytes, uint32_t size,
                       const TokenSink& sink, Offset* where) {
  if (bytes[0] != ' ' && bytes[size - 1] != ' ') return;
  uint32_t leading = 0;
  while (leading < size && bytes[leading] == ' ') ++leading;
  uint32_t trailing = 0;
  while (trailing < size && bytes[size - 1 - trailing] == ' ') ++trailing;
  trim_blanks(tables, text, leading, trailing, sink, where);
}

/// The same for an added token that took the bytes *where: all white space counts, what lstrip and rstrip took as well.
void trim_added(const Tables& tables, const uint8_t* text, const TokenSink& sink, Offset* where);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BLANK_TRIM_H_
