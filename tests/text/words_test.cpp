// Tokens with marks for the beginning or end of words, words that are one token, several splitters.
#include <gtest/gtest.h>

#include <random>

#include "run/spelled_token.h"
#include "tests/text/bpe_vocabulary.h"
#include "text/split_table.h"
#include "text/tables.h"
#include "tokenizer/bpe_tables.h"
#include "tokenizer/split_pattern.h"

namespace bantam::tests {
namespace {

using Ids = std::vector<int32_t>;
using Json = nlohmann::json;
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

Ranges ranges(const Encoded& encoded) {
  Ranges found;
  for (const Offset& offset : encoded.offsets) found.emplace_back(offset.begin, offset.end);
  return found;
}

/// BPE over the letters a, b and c whose tokens end words with "</w>"; other characters are <unk>.
Json suffix_json(const Merges& merges) {
  Json vocabulary = {{"<unk>", 0}, {"a", 1}, {"b", 2}, {"c", 3}, {"a</w>", 4}, {"b</w>", 5}, {"c</w>", 6}};
  Json list = Json::array();
  for (const auto& [left, right] : merges) {
    const size_t id = vocabulary.size();
    if (!vocabulary.contains(left + right)) vocabulary[left + right] = id;
    list.push_back({left, right});
  }
  Json json;
  json["model"] = {{"type", "BPE"},        {"vocab", vocabulary},          {"merges", list},
                   {"unk_token", "<unk>"}, {"end_of_word_suffix", "</w>"}, {"fuse_unk", false}};
  json["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  json["decoder"] = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
  return json;
}

/// Merges one word by definition.
Ids naive(const Json& json, const Merges& merges, const std::string& word) {
  const Json& vocabulary = json["model"]["vocab"];
  std::vector<convert::Merge> resolved;
  for (const auto& [left, right] : merges) {
    resolved.push_back({vocabulary[left], vocabulary[right], vocabulary[left + right]});
  }
  std::vector<uint32_t> ids;
  for (size_t i = 0; i < word.size(); ++i) {
    ids.push_back(vocabulary[word.substr(i, 1) + (i + 1 == word.size() ? "</w>" : "")]);
  }
  convert::Merging::Result last{};
  convert::Merge pair{};
  convert::Merging(resolved).merge(&ids, &last, &pair);
  return {ids.begin(), ids.end()};
}

TEST(WordMarks, AreShownAsTheFileSpellsThem) {
  Json json = suffix_json({{"a", "b"}, {"ab", "c</w>"}});
  SmallTokenizer ends(json);
  ASSERT_TRUE(ends.ok());
  for (const auto& [token, id] : json["model"]["vocab"].items()) {
    EXPECT_EQ(convert::spelled_token(ends.open(), id.get<uint32_t>()), token);
  }
  EXPECT_EQ(convert::spelled_token(ends.open(), 1000), "");
  json["model"]["end_of_word_suffix"] = nullptr;
  json["model"]["continuing_subword_prefix"] = "##";
  json["model"]["vocab"] = {{"<unk>", 0}, {"a", 1}, {"##b", 2}, {"ab", 3}};
  json["model"]["merges"] = Json::array({Json::array({"a", "##b"})});
  json["decoder"] = nullptr;
  json["added_tokens"] = Json::array({{{"id", 0}, {"content", "<unk>"}, {"special", true}, {"normalized", false}}});
  SmallTokenizer begins(json);
  ASSERT_TRUE(begins.ok());
  for (const auto& [token, id] : json["model"]["vocab"].items()) {
    EXPECT_EQ(convert::spelled_token(begins.open(), id.get<uint32_t>()), token);
  }
}

TEST(WordMarks, AreWhatMergingMakes) {
  std::mt19937 dice(7);
  for (const size_t count : {0u, 4u, 15u, 60u}) {
    for (int round = 0; round < testing::rounds(10, 2); ++round) {
      std::vector<std::string> inner = {"a", "b", "c"};
      std::vector<std::string> last = {"a</w>", "b</w>", "c</w>"};
      Merges merges;
      for (size_t i = 0; i < count; ++i) {
        auto& pool = dice() % 2 == 0 ? inner : last;
        const std::string left = inner[dice() % inner.size()];
        const std::string right = pool[dice() % pool.size()];
        const bool known = std::find(pool.begin(), pool.end(), left + right) != pool.end();
        if (known || (left + right).size() > 40) continue;
        merges.emplace_back(left, right);
        pool.push_back(left + right);
      }
      const Json json = suffix_json(merges);
      SmallTokenizer small(json);
      ASSERT_TRUE(small.ok());
      ASSERT_EQ(small.image().verify(), Status::kOk);
      for (const size_t size : {1u, 2u, 5u, 30u, 1021u, 1022u, 1023u, 1024u, 2500u}) {
        std::string word;
        while (word.size() < size) word += static_cast<char>('a' + dice() % 3);
        EXPECT_EQ(encode(small.open(), word).ids, naive(json, merges, word)) << count << ", " << size;
      }
    }
  }
}

TEST(WordMarks, AreNoPartOfOffsetsOrText) {
  SmallTokenizer small(suffix_json({{"a", "b"}, {"ab", "c</w>"}, {"b", "c"}}));
  ASSERT_TRUE(small.ok());
  const Encoded got = encode(small.open(), " abc  ab x\u00e9c bca");
  EXPECT_EQ(got.ids, (Ids{8, 1, 5, 0, 0, 6, 9, 4}));
  EXPECT_EQ(ranges(got), (Ranges{{1, 4}, {6, 7}, {7, 8}, {9, 10}, {10, 12}, {12, 13}, {14, 16}, {16, 17}}));
  const Text piece = small.open().piece(8);
  EXPECT_EQ(std::string(piece.data, piece.size), "abc");
}

TEST(WordMarks, AreRefusedWhereTheyAreAmbiguous) {
  const auto problem = [](const Json& json) {
    Folder folder;
    folder.write("tokenizer.json", json.dump());
    const Imported got = import_folder(folder);
    EXPECT_FALSE(got.found);
    return got.problems.empty() ? std::string() : got.problems.front();
  };
  Json text = suffix_json({{"a", "b"}});
  for (const char* token : {"<", "/", "w", ">", "</", "</w", "b</", "</w>"}) {
    const size_t id = text["model"]["vocab"].size();
    text["model"]["vocab"][token] = id;
  }
  text["model"]["merges"] = {"< /", "</ w", "</w >"};
  EXPECT_NE(problem(text).find("looks like a token with end_of_word_suffix"), std::string::npos) << problem(text);
  Json no_token = suffix_json({{"a", "b"}});
  no_token["model"]["merges"] = {"a b", "a zz", "zz a"};
  EXPECT_NE(problem(no_token).find("names token \"zz\""), std::string::npos) << problem(no_token);
  Json number = suffix_json({});
  number["model"]["end_of_word_suffix"] = 3;
  EXPECT_NE(problem(number).find("model.end_of_word_suffix"), std::string::npos);
  Json fallback = suffix_json({});
  fallback["model"]["byte_fallback"] = true;
  EXPECT_NE(problem(fallback).find("model.byte_fallback"), std::string::npos);
  Json lacking = bpe_json({});
  lacking["model"]["end_of_word_suffix"] = "</w>";
  EXPECT_NE(problem(lacking).find("are not tokens"), std::string::npos);
}

/// An added token that is matched in the normalized text.
Json normal_token(int id, const char* text, bool single_word = false, bool lstrip = false, bool rstrip = false) {
  return {{"id", id},         {"content", text},  {"normalized", true},        {"lstrip", lstrip},
          {"rstrip", rstrip}, {"special", false}, {"single_word", single_word}};
}

TEST(AddedInNormalisedText, AreFoundThereWithBytesOfTheText) {
  Json json = suffix_json({{"a", "b"}});
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}};
  json["added_tokens"] = {normal_token(8, "<AB>"), normal_token(9, "\u00e9", false, true, true),
                          normal_token(10, "bc", true)};
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.image().verify(), Status::kOk);
  // "e" with a separate accent is the accented letter; "abc" is a word, so "bc" in it is not one.
  const Encoded got = encode(small.open(), "AB<aB>a E\u0301  BC abc");
  EXPECT_EQ(got.ids, (Ids{1, 5, 8, 4, 9, 10, 7, 6}));
  EXPECT_EQ(ranges(got), (Ranges{{0, 1}, {1, 2}, {2, 6}, {6, 7}, {7, 13}, {13, 15}, {16, 18}, {18, 19}}));
}

TEST(AddedInNormalisedText, AreNoneWhereNothingIsLeft) {
  Json json = suffix_json({});
  json["normalizer"] = {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}};
  json["added_tokens"] = Json::array({normal_token(7, "  ")});
  Folder folder;
  folder.write("tokenizer.json", json.dump());
  const Imported got = import_folder(folder);
  ASSERT_FALSE(got.found);
  EXPECT_NE(got.problems.front().find("is nothing once normalised"), std::string::npos) << got.problems.front();
}

TEST(AddedInNormalisedText, LongTextsTakeTimeThatGrowsWithThem) {
  Json json = suffix_json({{"a", "a"}});
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}, {{"type", "Lowercase"}}}}};
  json["added_tokens"] = {normal_token(8, "aab"), normal_token(9, "\u3000", false, true, true),
                          normal_token(10, "\u0301"), normal_token(11, (std::string(30, 'a') + "x").c_str())};
  Json mark = json;
  mark["model"] = {{"type", "Unigram"}, {"unk_id", 0}, {"byte_fallback", false}, {"vocab", Json::array()}};
  for (const char* token : {"<unk>", "a", "\u2581"}) mark["model"]["vocab"].push_back(Json::array({token, -1.0}));
  mark["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
  mark.erase("decoder");
  SmallTokenizer pattern(json);
  SmallTokenizer metaspace(mark);
  ASSERT_TRUE(pattern.ok());
  ASSERT_TRUE(metaspace.ok());
  for (const char* piece : {"a", "aab", "aa", " ", "\u3000", "\u0301", "e\u0301", "\uff21 ", "x"}) {
    for (SmallTokenizer* small : {&pattern, &metaspace}) {
      EncodeResult result;
      EXPECT_EQ(count_tokens(small->open(), long_text(piece, testing::kLongText / 4), &result), Status::kOk);
    }
  }
}

/// A vocabulary of whole words.
Json words_json(const Json& splitter) {
  Json json;
  json["model"] = {
      {"type", "WordLevel"},
      {"vocab", {{"<unk>", 0}, {"the", 1}, {"dog", 2}, {"4", 3}, {"42", 4}, {"!", 5}, {"\u00e9t\u00e9", 6}}},
      {"unk_token", "<unk>"}};
  json["pre_tokenizer"] = splitter;
  return json;
}

TEST(WordLevel, IsAWordOrUnknown) {
  SmallTokenizer small(words_json({{"type", "Whitespace"}}));
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.image().verify(), Status::kOk);
  const Encoded got = encode(small.open(), "the  d\u00f6g! \u00e9t\u00e9");
  EXPECT_EQ(got.ids, (Ids{1, 0, 5, 6}));
  EXPECT_EQ(ranges(got), (Ranges{{0, 3}, {5, 9}, {9, 10}, {11, 16}}));
  // However long a word is, it is one token.
  for (const char* letter : {"d", "\u00e9"}) {
    std::string text = "dog ";
    while (text.size() < 5000) text += letter;
    const Encoded whole = encode(small.open(), text + " dog");
    EXPECT_EQ(whole.ids, (Ids{2, 0, 2}));
    EXPECT_EQ(whole.offsets[1].begin, 4u);
    EXPECT_EQ(whole.offsets[1].end, text.size());
  }
  EXPECT_EQ(encode(small.open(), "").ids, Ids{});
  EXPECT_EQ(encode(small.open(), " \n").ids, Ids{});
}

/// WordPiece after other splitters and normalizers than BERT's: words by patterns, chains of normalizers.
TEST(WordPieceByPattern, CutsWordsOfAnySplitter) {
  Json json;
  json["model"] = {
      {"type", "WordPiece"},
      {"vocab", {{"[UNK]", 0}, {"a", 1}, {"##b", 2}, {"ab", 3}, {"##\u00e9", 4}, {"-", 5}, {"a b", 6}, {"##-", 7}}},
      {"unk_token", "[UNK]"},
      {"continuing_subword_prefix", "##"},
      {"max_input_chars_per_word", 5}};
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}, {{"type", "Lowercase"}}}}};
  json["pre_tokenizer"] = {{"type", "CharDelimiterSplit"}, {"delimiter", "/"}};
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.image().verify(), Status::kOk);
  const Encoded got = encode(small.open(), "AB/a b/Ae\u0301b//abbbb/abbbbb/a-x");
  EXPECT_EQ(got.ids, (Ids{3, 6, 1, 4, 2, 3, 2, 2, 2, 0, 0}));
  EXPECT_EQ(ranges(got)[3], std::pair(8u, 9u)) << "a composition has the bytes of its first code point";
  EXPECT_EQ(ranges(got)[9], std::pair(20u, 26u));
  json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  SmallTokenizer bert(json);
  ASSERT_TRUE(bert.ok());
  EXPECT_EQ(encode(bert.open(), "a b-A").ids, (Ids{1, 0, 5, 1}));
  json.erase("pre_tokenizer");
  SmallTokenizer whole(json);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(encode(whole.open(), "a b-").ids, (Ids{6, 7}));
}

TEST(WordLevel, WordsOfAnyLengthAreTokens) {
  Json json = words_json({{"type", "WhitespaceSplit"}});
  const std::string word = long_text("ab", 1500);
  json["model"]["vocab"][word] = 7;
  json["model"]["vocab"][word + "c"] = 8;
  json["model"]["vocab"][long_text("xy", 700)] = 9;
  json["normalizer"] = {{"type", "Lowercase"}};  // capital letters cannot be read in place
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  for (const std::string& letter : {std::string("a"), std::string("A")}) {
    const std::string text = letter + word.substr(1);
    const Encoded got = encode(small.open(), text + " " + text + "c " + text + "d x" + long_text("xy", 700).substr(1));
    EXPECT_EQ(got.ids, (Ids{7, 8, 0, 9}));
    EXPECT_EQ(ranges(got)[1], std::pair(1501u, 3002u));
  }
}

TEST(WordLevel, LeavesBlanksOutOfOffsetsOfWordsThatItKnows) {
  Json json = words_json({{"type", "CharDelimiterSplit"}, {"delimiter", "-"}});
  json["model"]["vocab"][" \u3000dog\n"] = 7;
  json["post_processor"] = {
      {"type", "RobertaProcessing"}, {"sep", {"4", 3}}, {"cls", {"4", 3}}, {"trim_offsets", true}};
  SmallTokenizer small(json);
  ASSERT_TRUE(small.ok());
  const Encoded got = encode(small.open(), "the- \u3000dog\n- cat -the");
  EXPECT_EQ(got.ids, (Ids{3, 1, 7, 0, 1, 3}));
  EXPECT_EQ(ranges(got), (Ranges{{0, 0}, {0, 3}, {8, 11}, {13, 18}, {19, 22}, {0, 0}}));
}

TEST(Splitters, StandInARow) {
  const Json row = {{"type", "Sequence"},
                    {"pretokenizers",
                     {{{"type", "WhitespaceSplit"}},
                      {{"type", "Punctuation"}, {"behavior", "Isolated"}},
                      {{"type", "Digits"}, {"individual_digits", true}}}}};
  SmallTokenizer small(words_json(row));
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.image().verify(), Status::kOk);
  const Encoded got = encode(small.open(), "the42dog! \u00e94");
  EXPECT_EQ(got.ids, (Ids{1, 3, 0, 2, 5, 0, 3}));
  EXPECT_EQ(ranges(got), (Ranges{{0, 3}, {3, 4}, {4, 5}, {5, 8}, {8, 9}, {10, 12}, {12, 13}}));
}

TEST(Splitters, DoWithMatchesAsTheySay) {
  const auto cut = [](const char* behaviour, bool invert) {
    SmallTokenizer small(words_json(
        {{"type", "Split"}, {"pattern", {{"Regex", "[0-9]"}}}, {"behavior", behaviour}, {"invert", invert}}));
    EXPECT_TRUE(small.ok());
    return ranges(encode(small.open(), "ab12c3"));
  };
  EXPECT_EQ(cut("Isolated", false), (Ranges{{0, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}}));
  EXPECT_EQ(cut("Removed", false), (Ranges{{0, 2}, {4, 5}}));
  EXPECT_EQ(cut("Removed", true), (Ranges{{2, 3}, {3, 4}, {5, 6}}));
  EXPECT_EQ(cut("Contiguous", false), (Ranges{{0, 2}, {2, 4}, {4, 5}, {5, 6}}));
  EXPECT_EQ(cut("MergedWithPrevious", false), (Ranges{{0, 3}, {3, 4}, {4, 6}}));
  EXPECT_EQ(cut("MergedWithPrevious", true), (Ranges{{0, 2}, {2, 3}, {3, 5}, {5, 6}}));
  EXPECT_EQ(cut("MergedWithNext", false), (Ranges{{0, 2}, {2, 3}, {3, 5}, {5, 6}}));
}

TEST(Splitters, TablesOfPassesAreVerified) {
  const Json row = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "WhitespaceSplit"}}, {{"type", "Digits"}, {"individual_digits", true}}}}};
  SmallTokenizer small(words_json(row));
  ASSERT_TRUE(small.ok());
  const auto& blob = blob_of(small.description(), fb::BlobName::split);
  uint8_t* table = small.image().data() + blob->offset();
  const auto* header = reinterpret_cast<const text::SplitHeader*>(table);
  ASSERT_EQ(header->version, text::kSplitPassVersion);
  auto* pass = reinterpret_cast<text::SplitPass*>(
      table + text::split_pass_offset(header->blocks, header->states * header->stride));
  EXPECT_EQ(pass->more, 1u);
  for (const uint32_t more : {0u, 2u}) {
    pass->more = more;
    EXPECT_EQ(small.image().verify(), Status::kCorrupt) << more;
  }
  pass->more = 1;
  // Whatever the table says to drop, the words are inside the text.
  for (const uint32_t dropped : {0u, 1u, 99u, 0xFFFFFFFFu}) {
    pass->dropped = dropped;
    EXPECT_EQ(small.image().verify(), Status::kOk);
    EXPECT_LE(encode(small.open(), "the 42 dogs \u00e9").ids.size(), 13u);
  }
}

TEST(Splitters, TooManyAreRefused) {
  Json row = {{"type", "Sequence"}, {"pretokenizers", Json::array()}};
  for (const char* letter : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
    row["pretokenizers"].push_back({{"type", "CharDelimiterSplit"}, {"delimiter", letter}});
  }
  Folder folder;
  folder.write("tokenizer.json", words_json(row).dump());
  const Imported got = import_folder(folder);
  ASSERT_FALSE(got.found);
  EXPECT_NE(got.problems.front().find("more than 8"), std::string::npos) << got.problems.front();
}

TEST(Splitters, LongTextsTakeTimeThatGrowsWithThem) {
  const Json row = {{"type", "Sequence"},
                    {"pretokenizers",
                     {{{"type", "Whitespace"}},
                      {{"type", "Digits"}, {"individual_digits", false}},
                      {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}};
  Json json = suffix_json({{"a", "a"}, {"aa", "aa"}});
  json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  json["normalizer"] = {{"type", "BertNormalizer"}};
  SmallTokenizer marked(json);
  SmallTokenizer passes(words_json(row));
  ASSERT_TRUE(marked.ok());
  ASSERT_TRUE(passes.ok());
  for (const char* piece : {"a", " ", "1", "a1", "\u00e9", "\u4e2d", "e\u0301", "'"}) {
    for (SmallTokenizer* small : {&marked, &passes}) {
      EncodeResult result;
      EXPECT_EQ(count_tokens(small->open(), long_text(piece, testing::kLongText / 4), &result), Status::kOk);
    }
  }
}

}  // namespace
}  // namespace bantam::tests
