// Offsets without the blanks at the beginning and end of tokens, as Hugging Face's post-processors compute them.
#ifndef BANTAM_TEXT_BLANK_TRIM_H_
#define BANTAM_TEXT_BLANK_TRIM_H_

#include <stdint.h>

#include "linked.h"
#include "text/tables.h"
#include "text/token_sink.h"

namespace bantam::text {

#if BANTAM_IF_LINKED(TrimmedBlanks) || BANTAM_IF_LINKED(token_model_bpe) || BANTAM_IF_LINKED(token_model_unigram) || \
    BANTAM_IF_LINKED(normalizer_any)
/// Returns true if the code point counts as a blank: white space, or the letter that stands for a blank among bytes.
bool is_trimmed(uint32_t code);

/// The number of blanks at the beginning and end of a token. add() takes `count` code points at a time.
struct EdgeBlanks {
  uint64_t leading = 0;
  uint64_t trailing = 0;
  bool only = true;

  void add(bool blank, uint64_t count = 1) {
    trailing = blank ? trailing + count : 0;
    only = only && blank;
    if (only) leading += count;
  }
  /// Adds the blanks of the token bytes[0, size), which is in the form that tables.splitter uses.
  void add_token(const Tables& tables, const uint8_t* bytes, uint32_t size);
};

/// Removes a token's blanks from its offsets: at most as many code points as *where has, because the text may have
/// fewer or other ones (prefix_blank). Call it before the sink gets the token.
void trim(const Tables& tables, const EdgeBlanks& blanks, const TokenSink& sink, Offset* where);

/// Removes the blanks of an added token with the bytes *where: all white space counts, including that which lstrip and
/// rstrip took.
void trim_added(const Tables& tables, const TokenSink& sink, Offset* where);
#endif

/// Emits a token of the vocabulary, located at `where`.
inline void emit_known([[maybe_unused]] const Tables& tables, uint32_t id, Offset where, TokenSink* sink) {
#if BANTAM_IF_LINKED(TrimmedBlanks)
  if constexpr (linked::kTrimmedBlanks) {
    const uint32_t* begin = tables.lexicon.begin;
    EdgeBlanks blanks;
    if (tables.trim_blanks) {
      blanks.add_token(tables, tables.lexicon.text + begin[id], begin[id + 1] - begin[id]);
      trim(tables, blanks, *sink, &where);
    }
  }
#endif
  sink->emit(id, where.begin, where.end);
}

}  // namespace bantam::text

#endif  // BANTAM_TEXT_BLANK_TRIM_H_
