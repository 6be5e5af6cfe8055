// Added tokens (special ones among them): matched before words are, leftmost first, then longest.
#ifndef BANTAM_TEXT_ADDED_TOKENS_H_
#define BANTAM_TEXT_ADDED_TOKENS_H_

#include <stdint.h>

#include "text/tables.h"
#include "text/word_encoder.h"

namespace bantam::text {

struct AddedMatch {
  uint32_t id;
  uint32_t begin;  // of the token, blanks that it strips included
  uint32_t end;
  uint32_t resume;  // where the next search begins
};

/// The next added token of text[from, size) that is matched in raw text; `floor` is the end of the
/// previous one, blanks included. False if there is none.
bool find_added(const Tables& tables, const uint8_t* text, uint32_t size, uint32_t from, uint32_t floor,
                AddedMatch* out);

/// encode_piece for tokenizers with added tokens that are matched in the normalised text.
void encode_with_added(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ADDED_TOKENS_H_
