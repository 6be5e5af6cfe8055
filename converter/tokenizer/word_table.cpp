#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/size.h"
#include "text/word_table.h"
#include "tokenizer/tokenizer_tables.h"

namespace bantam::convert {
namespace {

/// Maximum average number of words per bucket.
constexpr size_t kBucketSize = 3;
/// Home slots per 16 words: fewer slots make the table denser, but leave more words without a slot.
constexpr size_t kHomesPer16 = 17;

/// Returns true if the runtime's fast path can look up `token` of a WordPiece vocabulary.
bool is_reachable(const std::string& token, bool lowercase) {
  const auto is_word = [lowercase](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (!lowercase && c >= 'A' && c <= 'Z');
  };
  if (token.size() == 1 && token[0] > ' ' && token[0] < 0x7F)
    return is_word(token[0]) || !(token[0] >= 'A' && token[0] <= 'Z');
  return token.size() <= text::kMaxTableWord && std::all_of(token.begin(), token.end(), is_word);
}

text::WordSlot slot_of(const std::string& token, uint32_t id) {
  std::array<uint8_t, text::kMaxTableWord> bytes{};
  std::copy(token.begin(), token.end(), bytes.begin());
  text::WordSlot slot = text::short_word(bytes.data(), static_cast<uint32_t>(token.size()), 0);
  slot.id = id;
  return slot;
}

/// Places the words of `bucket` in free slots with the first displacement that fits all of them.
bool place(const std::vector<text::WordSlot>& bucket, uint32_t home_count, std::vector<text::WordSlot>& slots,
           uint8_t& displacement) {
  for (uint32_t shift = 0; shift <= text::kMaxDisplacement; ++shift) {
    size_t placed = 0;
    const auto slot = [&](size_t i) -> text::WordSlot& {
      return slots[text::WordTable::home_of(text::WordTable::hash_of(bucket[i]), home_count) + shift];
    };
    for (; placed < bucket.size() && slot(placed).low == 0; ++placed) slot(placed) = bucket[placed];
    if (placed == bucket.size()) {
      displacement = static_cast<uint8_t>(shift);
      return true;
    }
    while (placed-- > 0) slot(placed) = text::WordSlot{};
  }
  return false;
}

}  // namespace

std::vector<uint8_t> build_word_table(const TrieKeys& vocabulary, bool lowercase) {
  TrieKeys words;
  for (const auto& word : vocabulary) {
    if (is_reachable(word.first, lowercase)) words.push_back(word);
  }
  return build_word_table(words);
}

std::vector<uint8_t> build_word_table(const TrieKeys& keys) {
  std::vector<text::WordSlot> words;
  for (const auto& [token, id] : keys) words.push_back(slot_of(token, id));
  if (words.empty()) return {};
  uint32_t bucket_bits = 0;
  while (words.size() > kBucketSize << bucket_bits) ++bucket_bits;
  const auto home_count = static_cast<uint32_t>(words.size() * kHomesPer16 / 16 + 1);
  const uint32_t bucket_mask = (1u << bucket_bits) - 1;
  std::vector<std::vector<text::WordSlot>> buckets(size_t{bucket_mask} + 1);
  for (const text::WordSlot& word : words) {
    buckets[text::WordTable::bucket_of(text::WordTable::hash_of(word), bucket_mask)].push_back(word);
  }
  std::vector<size_t> order(buckets.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&buckets](size_t a, size_t b) { return buckets[a].size() > buckets[b].size(); });
  std::vector<uint8_t> displacements(buckets.size());
  std::vector<text::WordSlot> slots(home_count + text::kMaxDisplacement);
  for (const size_t at : order) {  // large buckets first, while most slots are free
    std::vector<text::WordSlot>& bucket = buckets[at];
    while (!bucket.empty() && !place(bucket, home_count, slots, displacements[at])) bucket.pop_back();
  }

  std::vector<uint8_t> bytes(in_memory(text::word_table_end(bucket_bits, home_count)));
  std::memcpy(bytes.data(), &bucket_bits, sizeof(bucket_bits));
  std::memcpy(bytes.data() + sizeof(bucket_bits), &home_count, sizeof(home_count));
  std::memcpy(bytes.data() + text::kWordTableHeader, displacements.data(), displacements.size());
  std::memcpy(bytes.data() + text::word_slots_offset(bucket_bits), slots.data(), slots.size() * sizeof(text::WordSlot));
  return bytes;
}

}  // namespace bantam::convert
