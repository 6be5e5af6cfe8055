// Which words what is made of a source may have (Shortlist of the schema): its lists, read in place by the verifier that checks
// them and by sessions that rely on it.
#ifndef BANTAM_MODEL_SHORTLIST_H_
#define BANTAM_MODEL_SHORTLIST_H_

#include <string.h>

#include "format/verdict.h"
#include "format/view.h"

namespace bantam {

/// Null where texts may have every word.
inline const fb::Shortlist* shortlist_of(const fb::Model& model) {
  return linked::kShortlist && model.task() != nullptr ? model.task()->shortlist() : nullptr;
}

/// u32 units of a set of words, a bit a word.
constexpr uint32_t word_set_units(uint32_t words) { return (words + 31) / 32; }

/// The words of one list, ascending.
class ListedWords {
 public:
  /// Bytes [begin, end) of the lists; `least`: the least that the first word can be.
  ListedWords(const uint8_t* begin, const uint8_t* end, uint32_t least) : at_(begin), end_(end), least_(least) {}

  /// The next word; false at the end of the list, and where its bytes are no word. A word is below `least` + 2^28.
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
  /// Behind the last word, whether every byte belongs to one.
  bool is_whole() const { return whole_; }

 private:
  static constexpr uint32_t kMostBits = 28;

  const uint8_t* at_;
  const uint8_t* end_;
  uint32_t least_;
  bool whole_ = true;
};

/// Where the list of source word `number` begins among the bytes of all lists; of the number behind the last one their end.
inline uint32_t list_begin(const uint8_t* begins, uint32_t number) {
  uint32_t begin = 0;
  memcpy(&begin, begins + size_t{number} * sizeof(begin), sizeof(begin));
  return begin;
}

/// f(word) for each word from `first` on that source word `number` has listed. The file is verified.
template <typename F>
void for_each_listed(const fb::Shortlist& lists, const uint8_t* data, uint32_t number, const F& f) {
  if (number >= lists.source_words()) return;
  const uint8_t* begins = data + lists.lists()->offset();
  const uint8_t* bytes = begins + (size_t{lists.source_words()} + 1) * sizeof(uint32_t);
  ListedWords words(bytes + list_begin(begins, number), bytes + list_begin(begins, number + 1), lists.first());
  for (uint32_t word = 0; words.next(&word);) f(word);
}

/// Counts, begins, and every list is one. O(bytes of the lists), of which files have no more than data.
Verdict check_shortlist(const fb::Model& model, const uint8_t* data, size_t data_size);

}  // namespace bantam

#endif  // BANTAM_MODEL_SHORTLIST_H_
