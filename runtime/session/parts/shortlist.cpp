#include "session/parts/shortlist.h"

#include "linked.h"

#if BANTAM_IF_LINKED(Shortlist)

namespace bantam {
namespace {

/// A set that counts its members.
struct CountedSet {
  uint32_t* bits;
  uint32_t count;

  void add(uint32_t word) {
    uint32_t& unit = bits[word / 32];
    const uint32_t bit = 1u << word % 32;
    count += (unit & bit) == 0 ? 1u : 0u;
    unit |= bit;
  }
};

}  // namespace

void list_words(const fb::Shortlist& lists, const uint8_t* data, const int32_t* ids, uint32_t count, uint32_t* bits) {
  const uint32_t words = lists.words();
  for (uint32_t i = 0; i < word_set_units(words); ++i) bits[i] = 0;
  CountedSet set = {bits, 0};
  for (uint32_t word = 0; word < lists.first(); ++word) set.add(word);
  for (uint32_t i = 0; i < count; ++i) {
    const auto id = static_cast<uint32_t>(ids[i]);
    if (lists.shared() && id < words) set.add(id);
    for_each_listed(lists, data, id, [&set](uint32_t word) { set.add(word); });
  }
  for (uint32_t word = lists.first(); word < words && set.count % lists.multiple() != 0; ++word) set.add(word);
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(Shortlist)
