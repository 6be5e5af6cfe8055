// Words are what lies between white space, by bytes; each goes to the model `hashed`, and so do n-grams of words.
#ifndef BANTAM_TEXT_WHITE_SPLITTER_H_
#define BANTAM_TEXT_WHITE_SPLITTER_H_

#include <stdint.h>

#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

struct WhiteSplitter {
  /// What this splitter does not go with.
  static Status verify(Check& check);

  /// text[begin, end) to tokens, read in place: a look at the trie for each word, and its n-grams.
  static void encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_WHITE_SPLITTER_H_
