// Added tokens (including special ones): matched before words, leftmost first, then longest.
#ifndef BANTAM_TEXT_ADDED_TOKENS_H_
#define BANTAM_TEXT_ADDED_TOKENS_H_

#include <stdint.h>

#include "text/tables.h"

namespace bantam::text {

/// The text in which an added token is matched.
enum AddedKind : uint32_t { kRaw = 0, kNormalized = 1 };

/// Returns true if an added token of this kind may begin with `byte`.
inline bool may_start(const LexiconRoots& roots, AddedKind kind, uint32_t byte) {
  return (roots.first[kind][byte / 32] >> (byte % 32) & 1) != 0;
}

/// A token and its bytes in the text, including blanks that it strips.
struct AddedMatch {
  const fb::AddedToken* token;
  uint32_t begin;
  uint32_t end;
};

/// Finds the added tokens that are matched in raw text, one after the other (normal_added.h: in normalized text).
/// O(bytes * longest token) in total.
class AddedSearch {
 public:
  AddedSearch(const Tables& tables, const uint8_t* text, uint32_t size) : tables_(tables), text_(text), size_(size) {}

  /// Finds the next token; returns false if there is none.
  bool next(AddedMatch* out);

 private:
  uint32_t blanks_begin(uint32_t at) const;
  uint32_t blanks_end(uint32_t at);

  const Tables& tables_;
  const uint8_t* text_;
  const uint32_t size_;
  uint32_t at_ = 0;          // where the search continues
  uint32_t floor_ = 0;       // end of the previous token, blanks included
  uint32_t blanks_end_ = 0;  // end of the blanks that were scanned last
};

}  // namespace bantam::text

#endif  // BANTAM_TEXT_ADDED_TOKENS_H_
