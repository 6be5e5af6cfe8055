// The words that a text generated from each source may contain, by the file's shortlist: one bit per word, in the
// arena.
#ifndef BANTAM_SESSION_PARTS_SHORTLIST_H_
#define BANTAM_SESSION_PARTS_SHORTLIST_H_

#include "bantam/session.h"
#include "model/shortlist.h"

namespace bantam {

/// u32 units of a source's set; 0 if the file has no shortlist.
inline uint32_t listed_units(const fb::Model& model) {
  const fb::Shortlist* lists = shortlist_of(model);
  return lists == nullptr ? 0 : word_set_units(lists->words());
}

/// The score of excluded words: far below all scores that a layer computes, but finite.
constexpr float kUnlisted = -3.0e38f;

/// Excludes the scores of all words but `words`, whose bits must not be null.
inline void keep_words(const WordSet& words, float* scores, uint32_t vocabulary) {
  for (uint32_t first = 0; first < vocabulary; first += 32) {
    const uint32_t bits = first < words.words ? words.bits[first / 32] : 0;
    const uint32_t count = vocabulary - first < 32 ? vocabulary - first : 32;
    for (uint32_t i = 0; i < count; ++i) scores[first + i] = (bits >> i & 1u) != 0 ? scores[first + i] : kUnlisted;
  }
}

/// Sets bits [word_set_units(words)] to the set of a source with these tokens. `data`: the file's. O(words / 32 +
/// listed words).
void list_words(const fb::Shortlist& lists, const uint8_t* data, const int32_t* ids, uint32_t count, uint32_t* bits);

}  // namespace bantam

#endif  // BANTAM_SESSION_PARTS_SHORTLIST_H_
