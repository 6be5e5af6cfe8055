// Added tokens (special ones among them): matched before words are, leftmost first, then longest.
#ifndef BANTAM_TEXT_ADDED_TOKENS_H_
#define BANTAM_TEXT_ADDED_TOKENS_H_

#include <stdint.h>

#include "text/tables.h"

namespace bantam::text {

/// In which text an added token is matched.
enum AddedKind : uint32_t { kRaw = 0, kNormalized = 1 };

/// Returns true if an added token of this kind may begin with `byte`.
inline bool may_start(const LexiconRoots& roots, AddedKind kind, uint32_t byte) {
  return (roots.first[kind][byte / 32] >> (byte % 32) & 1) != 0;
}

/// A token and its bytes in the text, blanks that it strips included.
struct AddedMatch {
  const fb::AddedToken* token;
  uint32_t begin;
  uint32_t end;
};

/// The added tokens of a text that are matched in raw text, one after the other (in normalised text: normal_added.h). O(bytes * longest of them) in all.
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

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ADDED_TOKENS_H_
