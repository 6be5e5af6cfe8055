// A word begins with a blank, which belongs to it (SentencePiece's metaspace).
#ifndef BANTAM_TEXT_METASPACE_SPLITTER_H_
#define BANTAM_TEXT_METASPACE_SPLITTER_H_

#include <stdint.h>

#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

struct MetaspaceSplitter {
  /// Refuses tokenizers with parts that this splitter does not support.
  static Status verify(Check& check);

  /// Encodes text[begin, end) to tokens. Reads words in place if they are printed ASCII that normalizers do not change.
  static void encode_piece(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_METASPACE_SPLITTER_H_
