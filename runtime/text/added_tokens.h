// Added tokens (special ones among them): matched before words are, leftmost first, then longest.
#ifndef BANTAM_TEXT_ADDED_TOKENS_H_
#define BANTAM_TEXT_ADDED_TOKENS_H_

#include <stdint.h>

#include "text/tables.h"
#include "text/word_encoder.h"

namespace bantam::text {

/// A token and its bytes in the text, blanks that it strips included.
struct AddedMatch {
  const fb::AddedToken* token;
  uint32_t begin;
  uint32_t end;
};

/// The added tokens of a text that are matched in raw text, one after the other. O(bytes * longest of them) in all.
class AddedSearch {
 public:
  AddedSearch(const Tables& tables, const uint8_t* text, uint32_t size) : tables_(tables), text_(text), size_(size) {}

  /// False if there is no more.
  bool next(AddedMatch* out);

 private:
  uint32_t blanks_begin(uint32_t at) const;
  uint32_t blanks_end(uint32_t at);

  const Tables& tables_;
  const uint8_t* text_;
  const uint32_t size_;
  uint32_t at_ = 0;          // where the search goes on
  uint32_t floor_ = 0;       // end of the previous token, blanks included
  uint32_t blanks_end_ = 0;  // of the blanks behind a token that were passed last
};

/// encode_piece for tokenizers with added tokens that are matched in the normalised text.
void encode_with_added(const Tables& tables, const uint8_t* text, uint32_t begin, uint32_t end, TokenSink* sink);

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ADDED_TOKENS_H_
