// Time is proportional to the length of the text, whatever the file contains. Each of these texts took minutes or hours
// when it was scanned again from each of its bytes.
#include <gtest/gtest.h>

#include "tests/text/vocabulary.h"
#include "text/lexicon.h"

namespace bantam::tests {
namespace {

constexpr size_t kCharacters = testing::kLongText;

std::string repeated(const std::string& piece) { return long_text(piece, kCharacters * piece.size()); }

EncodeResult count(const Tokenizer& tokenizer, const std::string& text) {
  EncodeResult result;
  EXPECT_EQ(count_tokens(tokenizer, text, &result), Status::kOk);
  return result;
}

TEST(Linear, AddedTokensWhoseTrieLeadsBackToItself) {
  SmallTokenizer small(std::vector<std::string>{"a", "##a"});
  ASSERT_TRUE(small.ok());
  uint8_t* data = small.image().data();
  auto* roots =
      reinterpret_cast<text::LexiconRoots*>(data + blob_of(small.description(), fb::BlobName::roots)->offset());
  auto* units = reinterpret_cast<uint32_t*>(data + blob_of(small.description(), fb::BlobName::trie)->offset());
  const uint32_t base = roots->added[0];
  units[base ^ 'a'] = base << text::kUnitBaseShift | 'a';
  roots->only_first[0] = 256;
  roots->first[0]['a' / 32] |= 1u << ('a' % 32);
  ASSERT_EQ(small.image().verify(), Status::kOk);
  EXPECT_EQ(count(small.open(), repeated("a")).content[0], 1u);
}

/// Tokens of white space, some of which also take the white space around them.
nlohmann::json blank_tokens(bool normalized) {
  nlohmann::json json = tokenizer_json({"a"});
  json["normalizer"]["clean_text"] = false;
  const auto add = [&json, normalized](const char* text, bool strip) {
    json["added_tokens"].push_back({{"id", json["added_tokens"].size() + 1},
                                    {"content", text},
                                    {"lstrip", strip},
                                    {"rstrip", strip},
                                    {"normalized", normalized}});
  };
  add("\u3000", true);
  add("\u2003", false);
  return json;
}

TEST(Linear, AddedTokensOfBlanksThatStripBlanks) {
  for (const bool normalized : {false, true}) {
    SmallTokenizer small(blank_tokens(normalized));
    ASSERT_TRUE(small.ok());
    EXPECT_EQ(count(small.open(), repeated("\u3000")).content[0], 1u) << normalized;  // the first takes all
    EXPECT_EQ(count(small.open(), repeated("\u3000\u2003")).content[0], 2 * kCharacters) << normalized;
  }
}

TEST(Linear, StrippedBlanksAreThoseOfOneToken) {
  for (const bool normalized : {false, true}) {
    SmallTokenizer small(blank_tokens(normalized));
    ASSERT_TRUE(small.ok());
    // Every blank is a token. The first takes all that follow; the others begin where it ends.
    const Encoded got = encode(small.open(), "a\u3000\u2003\u3000\u2003a");
    ASSERT_EQ(got.ids.size(), 8u);
    const std::vector<std::pair<uint32_t, uint32_t>> want = {{0, 0},  {0, 1},   {1, 13},  {4, 7},
                                                             {7, 13}, {10, 13}, {13, 14}, {0, 0}};
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(std::make_pair(got.offsets[i].begin, got.offsets[i].end), want[i]) << normalized << ", token " << i;
    }
  }
}

TEST(Linear, AddedTokensAreOfBoundedSize) {
  nlohmann::json json = tokenizer_json({"a"});
  json["added_tokens"].push_back({{"id", 6}, {"content", std::string(513, 'a')}, {"normalized", false}});
  Folder folder;
  folder.write("tokenizer.json", json.dump());
  const Imported got = import_folder(folder);
  EXPECT_FALSE(got.found);
  ASSERT_EQ(got.problems.size(), 1u);
  EXPECT_NE(got.problems[0].find("512 bytes"), std::string::npos) << got.problems[0];
  SmallTokenizer small(std::vector<std::string>{"a"});
  ASSERT_TRUE(small.ok());
  auto* roots = reinterpret_cast<text::LexiconRoots*>(small.image().data() +
                                                      blob_of(small.description(), fb::BlobName::roots)->offset());
  roots->longest[1] = 513;
  EXPECT_EQ(small.image().verify(), Status::kCorrupt);
}

}  // namespace
}  // namespace bantam::tests
