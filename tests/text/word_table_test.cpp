// The parts of the fast path: classes of bytes, and the table of short words.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "text/ascii_block.h"
#include "text/word_table.h"
#include "tokenizer/tokenizer_tables.h"

namespace bantam::tests {
namespace {

using Block = std::array<uint8_t, text::kBlockSize>;

text::AsciiBlock defined(const Block& bytes) {
  text::AsciiBlock block = {0, 0, 0};
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t c = bytes.at(i);
    const bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool printed = c > ' ' && c < 0x7F;
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    block.word |= uint64_t{word} << i;
    block.printed |= uint64_t{printed} << i;
    block.other |= uint64_t{!printed && !blank} << i;
  }
  return block;
}

void expect_same(const text::AsciiBlock& got, const Block& bytes) {
  const text::AsciiBlock want = defined(bytes);
  const uint64_t before = want.other == 0 ? ~uint64_t{0} : (want.other & (0 - want.other)) - 1;
  EXPECT_EQ(got.other, want.other);
  EXPECT_EQ(got.word & before, want.word & before);
  EXPECT_EQ(got.printed & before, want.printed & before);
}

TEST(AsciiBlock, KnowsEveryByteInEveryPlace) {
  for (uint32_t c = 0; c < 256; ++c) {
    for (size_t at = 0; at < text::kBlockSize; ++at) {
      Block bytes;
      bytes.fill('a');
      bytes.at(at) = static_cast<uint8_t>(c);
      expect_same(text::classify_by_words(bytes.data()), bytes);
      expect_same(text::classify_ascii(bytes.data()), bytes);
    }
  }
}

TEST(AsciiBlock, NeighboursDoNotMatter) {
  std::mt19937 dice(5);
  for (int round = 0; round < 2000; ++round) {
    Block bytes;
    for (uint8_t& c : bytes) c = static_cast<uint8_t>(dice() % (round % 2 == 0 ? 128 : 256));
    expect_same(text::classify_by_words(bytes.data()), bytes);
    expect_same(text::classify_ascii(bytes.data()), bytes);
  }
}

text::WordSlot word_of(const std::string& word) {
  std::array<uint8_t, text::kMaxTableWord> bytes{};
  std::copy(word.begin(), word.end(), bytes.begin());
  return text::short_word(bytes.data(), static_cast<uint32_t>(word.size()), 0);
}

/// Returns the id of a word; -1 if it is not in the table.
int64_t find(const text::WordTable& table, const std::string& word) {
  const text::WordSlot asked = word_of(word);
  const text::WordSlot& slot = table.slot(asked);
  return slot.low == asked.low && slot.high == asked.high ? int64_t{slot.id} : -1;
}

/// A table with the alignment that it has in a file.
class Stored {
 public:
  explicit Stored(const std::vector<uint8_t>& table) : bytes_(table.size() / 8 + 1) {
    std::memcpy(bytes_.data(), table.data(), table.size());
  }
  text::WordTable open() const { return text::WordTable(reinterpret_cast<const uint8_t*>(bytes_.data())); }

 private:
  std::vector<uint64_t> bytes_;
};

TEST(WordTable, HoldsTheWordsThatAsciiReachesAndNoOthers) {
  std::mt19937 dice(11);
  convert::TrieKeys words;
  std::vector<std::string> others = {"##ab", "ab.", "twelveletterss", "Upper", "caf\u00e9", "..", "A"};
  for (uint32_t i = 0; i < 20000; ++i) words.emplace_back(std::to_string(dice() % 1000) + "w" + std::to_string(i), i);
  for (const char c : std::string("#$a0~")) words.emplace_back(std::string(1, c), static_cast<uint32_t>(words.size()));
  words.emplace_back("twelveletter", static_cast<uint32_t>(words.size()));
  convert::TrieKeys all = words;
  for (const std::string& other : others) all.emplace_back(other, static_cast<uint32_t>(all.size()));
  const Stored stored(convert::build_word_table(all, true));
  const text::WordTable table = stored.open();
  size_t missing = 0;
  for (const auto& [word, id] : words) {
    const int64_t found = find(table, word);
    if (found == -1) ++missing;
    EXPECT_TRUE(found == -1 || found == int64_t{id}) << word;
  }
  EXPECT_LE(missing, words.size() / 500);  // words without a place in the table; the trie has them
  for (const char* word : {"ab", "x", "A", "Upper", "..", "ab.", "99999"}) EXPECT_EQ(find(table, word), -1) << word;
}

TEST(WordTable, UpperCaseIsForCasedVocabularies) {
  const Stored stored(convert::build_word_table({{"Upper", 3}, {"A", 4}}, false));
  EXPECT_EQ(find(stored.open(), "Upper"), 3);
  EXPECT_EQ(find(stored.open(), "A"), 4);
  EXPECT_EQ(find(stored.open(), "upper"), -1);
}

TEST(WordTable, AnEmptyOneIsLeftOutAndFindsNothing) {
  EXPECT_TRUE(convert::build_word_table({{"##a", 0}, {"\u00e9", 1}}, true).empty());
  EXPECT_EQ(find(text::WordTable(), "a"), -1);
}

}  // namespace
}  // namespace bantam::tests
