// The words that what is made of each source may have, by the file's shortlist: a bit a word, in the arena.
#ifndef BANTAM_SESSION_SHORTLIST_H_
#define BANTAM_SESSION_SHORTLIST_H_

#include "model/shortlist.h"

namespace bantam {

/// u32 units of a source's set; 0 where the file has no shortlist.
inline uint32_t listed_units(const fb::Model& model) {
  const fb::Shortlist* lists = shortlist_of(model);
  return lists == nullptr ? 0 : word_set_units(lists->words());
}

/// Makes bits [word_set_units(words)] those of a source of these tokens. `data`: the file's. O(words / 32 + what is listed).
void list_words(const fb::Shortlist& lists, const uint8_t* data, const int32_t* ids, uint32_t count, uint32_t* bits);

}  // namespace bantam

#endif  // BANTAM_SESSION_SHORTLIST_H_
