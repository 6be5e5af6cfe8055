// WordPiece: a word is cut, from the left, into the longest tokens of the vocabulary.
#ifndef BANTAM_TEXT_WORDPIECE_H_
#define BANTAM_TEXT_WORDPIECE_H_

#include <stdint.h>

#include "text/blank_trim.h"
#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

struct WordPiece {
  /// Verifies TokenModel's fields, the roots' and the table of words. The parts of every model are verified before.
  static Status verify(Check& check, const LexiconRoots& roots);

  template <typename Locate>
  static bool encode_word(const Tables& tables, const uint8_t* bytes, uint32_t size, Locate&& locate, TokenSink* sink) {
    const Lexicon& lexicon = tables.lexicon;
    const uint32_t mark = sink->count;
    Match match = lexicon.longest(lexicon.roots->vocabulary, 0, bytes, size);
    uint32_t at = 0;
    while (match.size != 0) {
      emit_known(tables, match.value, locate(at, match.size), sink);
      at += match.size;
      if (at >= size) return true;
      match = lexicon.longest(lexicon.roots->continuation, lexicon.roots->prefix_size, bytes + at, size - at);
    }
    sink->count = mark;
    return false;
  }

  /// Returns the token without the prefix of a continuation.
  static TokenText decode(const fb::Tokenizer& tokenizer, Text token);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_WORDPIECE_H_
