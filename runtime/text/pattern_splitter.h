// Words are the matches of a regular expression, which the file stores as tables (split_table.h).
#ifndef BANTAM_TEXT_PATTERN_SPLITTER_H_
#define BANTAM_TEXT_PATTERN_SPLITTER_H_

#include <stdint.h>

#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

struct PatternSplitter {
  /// Verifies the split table, and refuses parts that this splitter does not support.
  static Status verify(Check& check);

  /// Encodes text[begin, end) to tokens. Reads well-formed text in place: each byte once or twice to find a word, plus
  /// one look-up in the table of words.
  static void encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_PATTERN_SPLITTER_H_
