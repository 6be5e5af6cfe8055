// Shortlist (see the schema): the words that a text generated from a source may contain. The verifier, which checks the
// lists, and sessions, which rely on them, read them in place.
#ifndef BANTAM_MODEL_SHORTLIST_H_
#define BANTAM_MODEL_SHORTLIST_H_

#include <string.h>

#include "format/verdict.h"
#include "format/view.h"

namespace bantam {

/// Returns null if there is no shortlist: texts may contain every word.
inline const fb::Shortlist* shortlist_of(const fb::Model& model) {
  return linked::kShortlist && model.task() != nullptr ? model.task()->shortlist() : nullptr;
}

/// u32 units of a set of words, one bit per word.
constexpr uint32_t word_set_units(uint32_t words) { return (words + 31) / 32; }

/// The words of one list, ascending.
class ListedWords {
 public:
  /// Reads bytes [begin, end) of the lists; `least`: the smallest possible first word.
  ListedWords(const uint8_t* begin, const uint8_t* end, uint32_t least) : at_(begin), end_(end), least_(least) {}

  /// Reads the next word. Returns false at the end of the list, or if the bytes are not a word. A word is less than
  /// `least` + 2^28.
  bool next(uint32_t* word) {
    uint32_t gap = 0;
    for (uint32_t shift = 0; shift < kMostBits && at_ != end_; shift += 7) {
      const uint32_t byte = *at_++;
      gap |= (byte & 0x7F) << shift;
      if (byte >= 0x80) continue;
      *word = least_ + gap;
      least_ = *word + 1;
      return true;
    }
    whole_ = whole_ && gap == 0 && at_ == end_;
    return false;
  }
  /// After the last word: returns true if every byte of the list belonged to a word.
  bool is_whole() const { return whole_; }

 private:
  static constexpr uint32_t kMostBits = 28;

  const uint8_t* at_;
  const uint8_t* end_;
  uint32_t least_;
  bool whole_ = true;
};

/// Offset of the list of source word `number` among the bytes of all lists; for the number after the last one it is the
/// end of the lists.
inline uint32_t list_begin(const uint8_t* begins, uint32_t number) {
  uint32_t begin = 0;
  memcpy(&begin, begins + size_t{number} * sizeof(begin), sizeof(begin));
  return begin;
}

/// Calls f(word) for each word of the list of source word `number`, in ascending order. The file is verified.
template <typename F>
void for_each_listed(const fb::Shortlist& lists, const uint8_t* data, uint32_t number, const F& f) {
  if (number >= lists.source_words()) return;
  const uint8_t* begins = data + lists.lists()->offset();
  const uint8_t* bytes = begins + (size_t{lists.source_words()} + 1) * sizeof(uint32_t);
  ListedWords words(bytes + list_begin(begins, number), bytes + list_begin(begins, number + 1), lists.first());
  for (uint32_t word = 0; words.next(&word);) f(word);
}

/// Checks the counts, the offsets and every list. O(bytes of the lists), which files cannot make larger than their
/// data.
Verdict check_shortlist(const fb::Model& model, const uint8_t* data, size_t data_size);

}  // namespace bantam

#endif  // BANTAM_MODEL_SHORTLIST_H_
