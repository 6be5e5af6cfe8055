// Byte-level BPE: the same tokens as merging one pair after the other, for any merges.
#include <gtest/gtest.h>

#include <random>

#include "tests/text/bpe_vocabulary.h"
#include "text/bpe.h"
#include "tokenizer/bpe_tables.h"
#include "tokenizer/split_pattern.h"

namespace bantam::tests {
namespace {

constexpr int32_t kFirstByte = 3;
constexpr int kRounds = testing::rounds(6, 1);  // for each alphabet and number of merges

/// Merges by definition.
std::vector<int32_t> naive(const nlohmann::json& json, const Merges& merges, const std::string& text) {
  const auto id_of = [&](const std::string& bytes) { return json["model"]["vocab"][letters(bytes)].get<uint32_t>(); };
  std::vector<convert::Merge> resolved;
  for (const auto& [left, right] : merges) resolved.push_back({id_of(left), id_of(right), id_of(left + right)});
  std::vector<uint32_t> ids;
  for (const char byte : text) ids.push_back(static_cast<uint8_t>(byte) + kFirstByte);
  convert::Merging::Result last{};
  convert::Merge pair{};
  convert::Merging(resolved).merge(&ids, &last, &pair);
  return {ids.begin(), ids.end()};
}

/// Returns random merges of bytes and of results of earlier merges.
Merges random_merges(std::mt19937& dice, const std::string& alphabet, size_t count) {
  std::vector<std::string> pool;
  for (const char c : alphabet) pool.emplace_back(1, c);
  Merges merges;
  for (size_t i = 0; i < count; ++i) {
    const std::string left = pool[dice() % pool.size()];
    const std::string right = pool[dice() % pool.size()];
    const std::string whole = left + right;
    if (whole.size() > 60 || std::find(pool.begin(), pool.end(), whole) != pool.end()) continue;
    merges.emplace_back(left, right);
    pool.push_back(whole);
  }
  return merges;
}

std::string problem_of(const nlohmann::json& json) {
  Folder folder;
  folder.write("tokenizer.json", json.dump());
  const Imported got = import_folder(folder);
  EXPECT_FALSE(got.found);
  return got.problems.empty() ? "" : got.problems.front();
}

TEST(Bpe, MergesOfNoTokenMakeNothing) {
  constexpr uint32_t kNone = text::kNoToken;
  // "b" is not a token, and a merge with it could be mistaken for one that makes "ab" from "a" and a missing part.
  for (const convert::Merge merge : {convert::Merge{0, kNone, 1}, {kNone, 0, 1}, {0, 0, kNone}}) {
    const convert::BpeTables tables = convert::build_bpe_tables({"a", "ab", "ba", "aa"}, {merge}, 0);
    for (uint32_t id = 1; id < 4; ++id) EXPECT_EQ(tables.entries[id].left, kNone) << id;
  }
}

TEST(Bpe, IsWhatMergingMakes) {
  std::mt19937 dice(11);
  for (const char* alphabet : {"a", "ab", "abc", "abcdef", "a \n"}) {
    for (const size_t count : {2u, 6u, 20u, 80u, 300u}) {
      for (int round = 0; round < kRounds; ++round) {
        const Merges merges = random_merges(dice, alphabet, count);
        const nlohmann::json json = whole_text_json(merges);
        SmallTokenizer small(json);
        ASSERT_TRUE(small.ok());
        ASSERT_EQ(small.image().verify(), Status::kOk);
        for (const size_t size : {1u, 2u, 7u, 30u, 200u, 1500u}) {
          std::string text;
          while (text.size() < size) text += alphabet[dice() % std::strlen(alphabet)];
          EXPECT_EQ(encode(small.open(), text).ids, naive(json, merges, text))
              << alphabet << ", " << count << ", " << size;
        }
      }
    }
  }
}

TEST(Bpe, OffsetsCoverCharactersAndLeaveBlanksOut) {
  SmallTokenizer small(bpe_json({{" ", "a"}, {"\xc3", "\xa9"}, {" a", "b"}, {"'", "s"}}));
  ASSERT_TRUE(small.ok());
  const Encoded got = encode(small.open(), " ab\u00e8 a's  \u00e9");
  // " ab", two bytes of one character, " a", "'s", " ", " ", then the character.
  const std::vector<std::pair<uint32_t, uint32_t>> want = {{0, 0}, {1, 3},   {3, 5},   {3, 5},   {6, 7},
                                                           {7, 9}, {10, 10}, {11, 11}, {11, 13}, {0, 0}};
  ASSERT_EQ(got.offsets.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(std::make_pair(got.offsets[i].begin, got.offsets[i].end), want[i]) << i;
  }
}

TEST(Bpe, TextThatIsNotUtf8IsReplaced) {
  SmallTokenizer small(bpe_json({{"\xef", "\xbf"}, {"\xef\xbf", "\xbd"}, {"a", "b"}}));
  ASSERT_TRUE(small.ok());
  const Encoded good = encode(small.open(), "ab\ufffd\ufffdab");
  const Encoded bad = encode(small.open(),
                             "ab\xff\xe2\x82"
                             "ab");
  EXPECT_EQ(good.ids, bad.ids);
  EXPECT_EQ(bad.offsets[2].begin, 2u);
  EXPECT_EQ(bad.offsets[3].end, 5u);
}

TEST(Bpe, ABlankIsPutBeforeATextThatHasNone) {
  nlohmann::json json = bpe_json({{" ", "a"}});
  json["pre_tokenizer"]["add_prefix_space"] = true;
  json["post_processor"]["add_prefix_space"] = true;
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(encode(small.open(), "a").ids, encode(small.open(), " a").ids);
  EXPECT_EQ(encode(small.open(), "a").offsets[1].end, 1u);
  EXPECT_EQ(encode(small.open(), "").ids.size(), 2u);
}

TEST(Bpe, WholeWordsNeedNoMerges) {
  nlohmann::json json = bpe_json({{"a", "b"}, {"c", "d"}, {"b", "c"}});
  json["model"]["vocab"][letters("abcd")] = 262;
  SmallTokenizer merged(json);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(encode(merged.open(), "abcd").ids.size(), 4u);
  json["model"]["ignore_merges"] = true;
  SmallTokenizer whole(json);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(encode(whole.open(), "abcd").ids, (std::vector<int32_t>{0, 262, 1}));
  EXPECT_EQ(encode(whole.open(), "abcdabcd").ids.size(), 6u);
}

TEST(Bpe, PiecesAreWhatStandsInATextAndTokensAreBytes) {
  SmallTokenizer small(bpe_json({{" ", "a"}}));
  ASSERT_TRUE(small.ok());
  const Tokenizer tokenizer = small.open();
  bool continues = true;
  EXPECT_EQ(std::string(tokenizer.piece(259, &continues).data, 1), "a");
  EXPECT_FALSE(continues);
  EXPECT_EQ(tokenizer.id(view(" a")), 259);
  EXPECT_EQ(tokenizer.mask_id(), 2);
}

TEST(Bpe, FilesOfRobertaSayTheSame) {
  const nlohmann::json json = bpe_json({{" ", "a"}, {" a", "b"}});
  Folder folder;
  folder.write("vocab.json", json["model"]["vocab"].dump());
  folder.write("merges.txt", "#version: 0.2\n" + letters(" ") + " a\n" + letters(" a") + " b\n");
  Imported imported = import_folder(folder);
  ASSERT_TRUE(imported.found) << imported.problems.front();
  TokenizerImage image(imported.graph);
  SmallTokenizer small(json);
  const std::string text = "ab ab <mask> b";
  const Encoded got = encode(image.open(), text);
  const Encoded want = encode(small.open(), text);
  EXPECT_EQ(got.ids, want.ids);
  EXPECT_EQ(got.segments, want.segments);
}

TEST(Bpe, ProblemsNameTheStep) {
  const nlohmann::json good = bpe_json({{"a", "b"}});
  const auto with = [&good](const std::string& where, const nlohmann::json& value) {
    nlohmann::json json = good;
    json[nlohmann::json::json_pointer(where)] = value;
    return problem_of(json);
  };
  EXPECT_NE(with("/model/merges", {"a zz"}).find("model.merges[0]: names token \"zz\""), std::string::npos);
  EXPECT_NE(with("/model/merges", {"b a"}).find("names token \"ba\""), std::string::npos);
  EXPECT_NE(with("/model/merges", {"a"}).find("model.merges[0]: should be two tokens"), std::string::npos);
  EXPECT_NE(with("/model/merges", 3).find("model.merges: should be a list"), std::string::npos);
  EXPECT_NE(with("/model/dropout", 0.1).find("model.dropout"), std::string::npos);
  EXPECT_NE(with("/model/byte_fallback", true).find("model.byte_fallback"), std::string::npos);
  EXPECT_NE(with("/model/end_of_word_suffix", 3).find("model.end_of_word_suffix"), std::string::npos);
  EXPECT_NE(with("/normalizer", {{"type", "Klingon"}}).find("normalizer.type: \"Klingon\""), std::string::npos);
  EXPECT_NE(with("/pre_tokenizer", {{"type", "Klingon"}}).find("pre_tokenizer.type: \"Klingon\""), std::string::npos);
  nlohmann::json lacking = good;
  lacking["model"]["vocab"].erase("x");
  EXPECT_NE(problem_of(lacking).find("0x78"), std::string::npos);
}

TEST(Bpe, IsWhatMergingMakesInAnyOrder) {
  std::mt19937 dice(12);
  int disordered = 0;
  for (const char* alphabet : {"a", "ab", "abc", "abcdef", "a \n"}) {
    for (const size_t count : {6u, 20u, 80u, 300u}) {
      for (int round = 0; round < kRounds; ++round) {
        Merges merges = random_merges(dice, alphabet, count);
        std::shuffle(merges.begin(), merges.end(), dice);
        const nlohmann::json json = whole_text_json(merges);
        SmallTokenizer small(json);
        ASSERT_TRUE(small.ok());
        ASSERT_EQ(small.image().verify(), Status::kOk);
        disordered += (small.image().table().model()->traits() & text::kAnyOrder) != 0 ? 1 : 0;
        for (const size_t size : {1u, 2u, 7u, 30u, 200u, 1000u}) {
          std::string text;
          while (text.size() < size) text += alphabet[dice() % std::strlen(alphabet)];
          EXPECT_EQ(encode(small.open(), text).ids, naive(json, merges, text))
              << alphabet << ", " << count << ", " << size;
        }
      }
    }
  }
  EXPECT_GT(disordered, 10 * kRounds);
}

TEST(Bpe, MergesOfAnyOrderTakeLongWordsAWindowAtATime) {
  nlohmann::json json = whole_text_json({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}});
  std::swap(json["model"]["merges"][0], json["model"]["merges"][1]);
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  const std::vector<int32_t> ids = encode(small.open(), std::string(5000, 'a')).ids;
  const int32_t longest = json["model"]["vocab"]["aaaaaaaa"];
  EXPECT_EQ(ids, std::vector<int32_t>(625, longest));
}

TEST(Bpe, BytesThatAreNoTokensAreUnknown) {
  nlohmann::json json = bpe_json({{"a", "b"}});
  json["model"]["vocab"].erase("x");
  json["model"]["vocab"].erase(letters("\xa9"));
  json["model"]["unk_token"] = "<none>";
  EXPECT_NE(problem_of(json).find("0x78"), std::string::npos);
  json["model"]["vocab"]["<none>"] = 1000;
  for (const bool fuse : {false, true}) {
    json["model"]["fuse_unk"] = fuse;
    SmallTokenizer with(json);
    ASSERT_TRUE(with.ok());
    const Encoded got = encode(with.open(), "abxx\u00e9");
    std::vector<int32_t> want = {0, 259, 1000, 1000, 0xc3 + kFirstByte, 1000, 1};
    if (fuse) want.erase(want.begin() + 2);
    EXPECT_EQ(got.ids, want);
    EXPECT_EQ(got.offsets[want.size() - 2].begin, 4u);
    EXPECT_EQ(got.offsets[want.size() - 2].end, 6u);
  }
}

TEST(SplitPattern, SaysWhatItDoesNotTake) {
  const auto problem = [](const std::string& pattern) -> std::string {
    try {
      convert::compile_pattern(pattern);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem(convert::kByteLevelPattern), "");
  EXPECT_EQ(problem(convert::kWholeTextPattern), "");
  EXPECT_NE(problem("\\p{Nothing}+|.").find("\\p{Nothing}"), std::string::npos);
  EXPECT_NE(problem("\\h+").find("\\h"), std::string::npos);
  EXPECT_NE(problem("(a").find("without its"), std::string::npos);
  EXPECT_NE(problem("a)").find("without its"), std::string::npos);
  EXPECT_NE(problem("[a").find("without its"), std::string::npos);
  EXPECT_NE(problem("a{99}").find("repetition"), std::string::npos);
  EXPECT_NE(problem("a+?").find("lazy"), std::string::npos);
  EXPECT_NE(problem("(?<=a)b").find("not known"), std::string::npos);
  EXPECT_NE(problem("\\p{L}+").find("leaves characters out"), std::string::npos);
  EXPECT_NE(problem(std::string(5000, 'a')).find("too long"), std::string::npos);
  EXPECT_NE(problem("(?:(?:(?:[\\s\\S]{32}){32}){32})").find("too large"), std::string::npos);
  EXPECT_NE(problem("[\\s\\S]{1,32}[a-z]{32}|[\\s\\S]{32}a{32}|[\\s\\S]").find("too many states"), std::string::npos);
}

}  // namespace
}  // namespace bantam::tests
