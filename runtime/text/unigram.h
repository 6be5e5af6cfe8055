// SentencePiece's unigram model: of all segmentations of a word into tokens, it chooses the one with the greatest sum
// of scores.
//
// Viterbi's algorithm from left to right, with sums in f64 as in Hugging Face: for equal sums it keeps the one whose
// last token begins first. A code point without a token is unknown, and its score is the least score of all tokens
// minus 10; adjacent unknown ones are joined. A word of up to kUnigramWord bytes is cut at once; unigram_long.h cuts
// longer ones.
#ifndef BANTAM_TEXT_UNIGRAM_H_
#define BANTAM_TEXT_UNIGRAM_H_

#include <stdint.h>

#include "text/blank_trim.h"
#include "text/byte_tokens.h"
#include "text/check.h"
#include "text/tables.h"
#include "text/token_sink.h"
#include "text/utf8.h"

namespace bantam::text {

/// Most bytes of a token; longer ones are never found.
constexpr uint32_t kMaxUnigramToken = 255;

/// The tokens of a word: ids (kNoToken for unknown ones) and their ends.
struct UnigramCut {
  uint32_t count;
  uint32_t ids[kUnigramWord];
  uint16_t ends[kUnigramWord];
};

struct Unigram {
  /// Verifies the scores, the tokens of bytes and the table of words.
  static Status verify(Check& check, const LexiconRoots& roots);

  /// Cuts bytes[0, size), 1 to kUnigramWord of them. O(size * longest token).
  static void cut(const Lexicon& lexicon, const UnigramScores& scores, const uint8_t* bytes, uint32_t size,
                  UnigramCut* out);

  /// Encodes a word of at most kUnigramWord bytes. `locate(at, size)` returns the offsets of bytes[at, at + size).
  template <typename Locate>
  static bool encode_word(const Tables& tables, const uint8_t* bytes, uint32_t size, Locate&& locate, TokenSink* sink) {
    UnigramCut here;
    here.count = 0;
    if (size > 0 && size <= kUnigramWord) cut(tables.lexicon, tables.scores, bytes, size, &here);
    uint32_t at = 0;
    for (uint32_t i = 0; i < here.count; ++i) {
      const bool known = here.ids[i] != kNoToken;
      while (!known && i + 1 < here.count && here.ids[i + 1] == kNoToken) ++i;
      const uint32_t end = here.ends[i];
      const Offset where = locate(at, end - at);
      if (known) {
        emit_known(tables, here.ids[i], where, sink);
      } else {
        EdgeBlanks blanks;
        if constexpr (linked::kTrimmedBlanks) {
          if (tables.trim_blanks) blanks.add_token(tables, bytes + at, end - at);
        }
        emit_unknown(tables, bytes + at, end - at, where, blanks, sink);
      }
      at = end;
    }
    return true;
  }

  /// Returns the token without its leading blank; a token without one continues the preceding word.
  static TokenText decode(const fb::Tokenizer& tokenizer, Text token);
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_UNIGRAM_H_
