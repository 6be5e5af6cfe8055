// Splits words at white-space bytes and zero bytes; each word goes to the model `hashed`, followed by word n-grams.
#ifndef BANTAM_TEXT_WHITE_SPLITTER_H_
#define BANTAM_TEXT_WHITE_SPLITTER_H_

#include <stdint.h>

#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

struct WhiteSplitter {
  /// Refuses tokenizers with parts that this splitter does not support.
  static Status verify(Check& check);

  /// Encodes text[begin, end) to tokens. Reads it in place: looks up each word in the trie, and its n-grams.
  static void encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_WHITE_SPLITTER_H_
