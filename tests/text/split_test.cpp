// Splitters by text, by script and by length: the words of the original library's rules, with every way of reading a
// text.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "source/gguf/gguf_splits.h"
#include "tests/text/bpe_vocabulary.h"
#include "tests/text/vocabulary.h"
#include "text/split_table.h"
#include "tokenizer/split_pattern.h"

namespace bantam::tests {
namespace {

using Json = nlohmann::json;
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;
using Letters = std::vector<std::string>;

constexpr const char* kBehaviours[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"};

/// A tokenizer of whole words, so that each word of the splitter is a token.
Json splitting(const Json& splitter) {
  Json json;
  json["model"] = {{"type", "WordLevel"}, {"vocab", {{"<unk>", 0}, {"a", 1}}}, {"unk_token", "<unk>"}};
  json["pre_tokenizer"] = splitter;
  return json;
}

Json split_at(const std::string& text, const std::string& behaviour, bool invert) {
  return {{"type", "Split"}, {"pattern", {{"String", text}}}, {"behavior", behaviour}, {"invert", invert}};
}

Ranges words_of(SmallTokenizer& small, const std::string& text) {
  Ranges found;
  for (const Offset& offset : encode(small.open(), text).offsets) found.emplace_back(offset.begin, offset.end);
  return found;
}

Ranges words_of(const Json& splitter, const std::string& text) {
  SmallTokenizer small(splitting(splitter));
  EXPECT_TRUE(small.ok());
  return small.ok() ? words_of(small, text) : Ranges();
}

struct Stretch {
  size_t begin;
  size_t end;
  bool match;
};

/// Returns occurrences in the text, found from the left, in code points.
std::vector<Stretch> stretches(const Letters& text, const Letters& wanted) {
  std::vector<Stretch> found;
  const auto add = [&found](size_t begin, size_t end, bool match) {
    if (begin < end) found.push_back({begin, end, match});
  };
  size_t behind = 0;
  for (size_t at = 0; at + wanted.size() <= text.size();) {
    if (!std::equal(wanted.begin(), wanted.end(), text.begin() + static_cast<std::ptrdiff_t>(at))) {
      ++at;
      continue;
    }
    add(behind, at, false);
    add(at, at + wanted.size(), true);
    at += wanted.size();
    behind = at;
  }
  add(behind, text.size(), false);
  return found;
}

/// Applies the original library's rules for joining stretches.
std::vector<Stretch> merged(std::vector<Stretch> parts, const std::string& behaviour, bool invert) {
  for (Stretch& part : parts) part.match = part.match != invert;
  std::vector<Stretch> out;
  const bool next = behaviour == "MergedWithNext";
  if (next) std::reverse(parts.begin(), parts.end());
  bool before = false;  // whether the previous stretch was a match
  for (const Stretch& part : parts) {
    const bool joins = behaviour == "Contiguous" ? part.match == before : part.match && !before;
    if (behaviour == "Removed") {
      if (!part.match) out.push_back(part);
    } else if (behaviour != "Isolated" && joins && !out.empty()) {
      (next ? out.back().begin : out.back().end) = next ? part.begin : part.end;
    } else {
      out.push_back(part);
    }
    before = part.match;
  }
  if (next) std::reverse(out.begin(), out.end());
  return out;
}

Ranges expected(const Letters& text, const Letters& wanted, const std::string& behaviour, bool invert) {
  std::vector<uint32_t> bytes = {0};
  for (const std::string& letter : text) bytes.push_back(bytes.back() + static_cast<uint32_t>(letter.size()));
  Ranges out;
  for (const Stretch& word : merged(stretches(text, wanted), behaviour, invert)) {
    out.emplace_back(bytes[word.begin], bytes[word.end]);
  }
  return out;
}

std::string whole(const Letters& letters) {
  std::string text;
  for (const std::string& letter : letters) text += letter;
  return text;
}

TEST(SplitText, IsWhatTheRulesMakeOfMatches) {
  std::mt19937 dice(11);
  const Letters alphabet = {"a", "b", "\u00e9", "\u4e2d"};
  const auto some = [&](size_t size, size_t letters) {
    Letters out;
    while (out.size() < size) out.push_back(alphabet[dice() % letters]);
    return out;
  };
  for (const bool normalised : {false, true}) {
    for (int round = 0; round < testing::cases(12, 2); ++round) {
      const size_t letters = 2 + dice() % 3;
      const Letters wanted = some(2 + dice() % 4, letters);
      for (const char* behaviour : kBehaviours) {
        for (const bool invert : {false, true}) {
          Json json = splitting(split_at(whole(wanted), behaviour, invert));
          // Words are gathered if a normalizer may change non-ASCII characters.
          if (normalised) json["normalizer"] = {{"type", "NFC"}};
          SmallTokenizer small(json);
          ASSERT_TRUE(small.ok());
          ASSERT_EQ(small.image().verify(), Status::kOk);
          for (const size_t size : {1u, 2u, 3u, 8u, 40u, 300u}) {
            Letters text = some(size, letters);
            for (size_t i = 0; i < size / 8; ++i) {
              const size_t at = dice() % text.size();
              text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), wanted.begin(), wanted.end());
            }
            ASSERT_EQ(words_of(small, whole(text)), expected(text, wanted, behaviour, invert))
                << whole(wanted) << ", " << behaviour << ", " << invert << ": " << whole(text);
          }
        }
      }
    }
  }
}

TEST(SplitText, OverlapsItself) {
  EXPECT_EQ(words_of(split_at("aab", "Isolated", false), "xaaab"), (Ranges{{0, 2}, {2, 5}}));
  EXPECT_EQ(words_of(split_at("abac", "Removed", false), "ababac"), (Ranges{{0, 2}}));
  EXPECT_EQ(words_of(split_at("aa", "Removed", false), "aaaaa"), (Ranges{{4, 5}}));
  EXPECT_EQ(words_of(split_at("</w>", "Removed", false), "<a</w></w></"), (Ranges{{0, 2}, {10, 12}}));
  EXPECT_EQ(words_of(split_at("</w>", "Removed", true), "<a</w></w></"), (Ranges{{2, 6}, {6, 10}}));
}

TEST(SplitText, IsAsWellARegularExpressionOfAsManyCharacters) {
  const Json split = {{"type", "Split"}, {"pattern", {{"Regex", "\\r\\n|\\n"}}}, {"behavior", "Removed"}};
  EXPECT_EQ(words_of(split, "a\r\nb\rc\n\n"), (Ranges{{0, 1}, {3, 6}}));  // of several lengths
  const Json digits = {{"type", "Split"}, {"pattern", {{"Regex", "[0-9]{2}(?i:ab)"}}}, {"behavior", "Removed"}};
  EXPECT_EQ(words_of(digits, "12Ab123aB12ac"), (Ranges{{4, 5}, {9, 13}}));
}

TEST(SplitText, StandsInARow) {
  const Json row = {{"type", "Sequence"},
                    {"pretokenizers",
                     {{{"type", "WhitespaceSplit"}},
                      split_at("--", "Removed", false),
                      split_at("</w>", "MergedWithPrevious", false),
                      {{"type", "Digits"}, {"individual_digits", true}}}}};
  EXPECT_EQ(words_of(row, "ab--c12 --d</w>e </w>-"),
            (Ranges{{0, 2}, {4, 5}, {5, 6}, {6, 7}, {10, 15}, {15, 16}, {17, 21}, {21, 22}}));
  // Each malformed UTF-8 sequence counts as one character that is not part of a match.
  EXPECT_EQ(words_of(split_at("ab", "Removed", false),
                     "a\xff"
                     "ab\xe4\xb8"
                     "ab"),
            (Ranges{{0, 2}, {4, 6}}));
}

TEST(SplitText, EndsOfWordsAreVerified) {
  SmallTokenizer small(splitting(split_at("aab", "Removed", false)));
  ASSERT_TRUE(small.ok());
  auto& blob = blob_of(small.description(), fb::BlobName::split);
  uint8_t* table = small.image().data() + blob->offset();
  const auto* header = reinterpret_cast<const text::SplitHeader*>(table);
  ASSERT_EQ(header->version, text::kSplitEndsVersion);
  ASSERT_EQ(text::split_pass_size(*header), blob->size());
  uint8_t* ends = table + blob->size() - (header->states + 3) / 4 * 4;
  ASSERT_EQ(std::count(ends, ends + header->states, 3), 1);
  const std::string text = "xaaab\u00e9 aab aa";
  // Whatever the states contain, words are inside the text and advance.
  for (uint32_t state = 0; state < header->states; ++state) {
    const uint8_t was = ends[state];
    for (const uint32_t end : {0u, 1u, 127u, 128u, 255u}) {
      ends[state] = static_cast<uint8_t>(end);
      EXPECT_EQ(small.image().verify(), Status::kOk);
      uint32_t behind = 0;
      for (const auto& [begin, stop] : words_of(small, text)) {
        EXPECT_LE(behind, begin);
        EXPECT_LT(begin, stop);
        behind = stop;
      }
      EXPECT_LE(behind, text.size());
    }
    ends[state] = was;
  }
  *blob = fb::Blob(blob->offset(), blob->size() - 4, 0, 0);
  small.image().repack(small.description());
  EXPECT_EQ(small.image().verify(), Status::kCorrupt);
}

TEST(SplitText, LongTextsTakeTimeThatGrowsWithThem) {
  for (const char* behaviour : kBehaviours) {
    SmallTokenizer small(splitting(split_at("aaaaaaaaaaaaaaab", behaviour, false)));
    ASSERT_TRUE(small.ok());
    for (const char* piece : {"a", "x", "aaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaa\u00e9", "\xff"}) {
      EncodeResult result;
      EXPECT_EQ(count_tokens(small.open(), long_text(piece, testing::kLongText / 4), &result), Status::kOk);
    }
  }
}

TEST(Scripts, AreRunsWithWhatIsOfAny) {
  const Json scripts = {{"type", "UnicodeScripts"}};
  EXPECT_EQ(words_of(scripts, "  abc d1! \u0433\u0434 \u4e2d\u30a2\u30fc\u3042 x"),
            (Ranges{{2, 7}, {7, 10}, {10, 15}, {15, 28}, {28, 29}}));
  EXPECT_EQ(words_of(scripts, "  \ue000 "), Ranges{});
  EXPECT_EQ(words_of(scripts, "a\u0301b \u0378c"), (Ranges{{0, 1}, {1, 3}, {3, 8}}));
  const Json row = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, scripts}}};
  EXPECT_EQ(words_of(row, "a \u0378b\u0433"), (Ranges{{0, 1}, {4, 5}, {5, 7}}));
}

TEST(Splitters, OfALengthCountCodePoints) {
  EXPECT_EQ(words_of({{"type", "FixedLength"}, {"length", 3}}, "ab\u00e9\u4e2d fgh"),
            (Ranges{{0, 4}, {4, 9}, {9, 11}}));
  EXPECT_EQ(words_of({{"type", "FixedLength"}}, "abcdef"), (Ranges{{0, 5}, {5, 6}}));
  EXPECT_EQ(words_of({{"type", "FixedLength"}, {"length", 200}}, std::string(401, 'a')),
            (Ranges{{0, 200}, {200, 400}, {400, 401}}));
}

TEST(Splitters, EveryNameOfLlamaCppIsCompiled) {
  for (const std::string_view name : convert::gguf_split_names()) {
    const convert::GgufSplits* splits = convert::gguf_splits(name);
    ASSERT_NE(splits, nullptr) << name;
    std::vector<convert::SplitRule> rules;
    for (const char* pattern : splits->patterns) {
      if (pattern != nullptr) rules.push_back({pattern, {}, convert::SplitBehaviour::kIsolated, false});
    }
    EXPECT_NO_THROW(EXPECT_FALSE(convert::compile_split(rules).empty())) << name;
  }
  EXPECT_EQ(convert::gguf_splits(""), nullptr);
  EXPECT_EQ(convert::gguf_splits("superbpe"), nullptr);
}

/// The end of a stretch between matches is known only some characters later. Words as in tokenizers 0.23.3.
TEST(Splitters, FindMatchesOfSeveralLengths) {
  const auto words = [](const std::vector<std::string>& patterns, const std::string& text) {
    Json steps = Json::array();
    for (const std::string& pattern : patterns) {
      steps.push_back({{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}});
    }
    SmallTokenizer small(splitting({{"type", "Sequence"}, {"pretokenizers", steps}}));
    EXPECT_TRUE(small.ok()) << patterns.front();
    std::vector<std::string> out;
    if (!small.ok()) return out;
    for (const auto& [begin, end] : words_of(small, text)) out.push_back(text.substr(begin, end - begin));
    return out;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(words({"\\s?\\p{L}+"}, "1  a- b\n"), (Words{"1 ", " a", "-", " b", "\n"}));
  EXPECT_EQ(words({"[\\r\\n]", "\\s?\\p{L}+", "\\s+$"}, "1 2  \n  a  "), (Words{"1 2", "  ", "\n", " ", " a", "  "}));
  EXPECT_EQ(words({"\\p{Lu}\\p{Ll}*|\\p{Han}+|(?=\\p{N})."}, "aBcD\u4e2d\u65871!"),
            (Words{"a", "Bc", "D", "\u4e2d\u6587", "1", "!"}));
  EXPECT_EQ(words({"[^\\s\\p{L}]?+\\p{L}++|\\s++$|\\s+(?!\\S)|\\s"}, "a  !b  "), (Words{"a", " ", " ", "!b", "  "}));
  EXPECT_EQ(words({" ?[^(\\s|[.,!?])]+"}, "ab c, d"), (Words{"ab", " c", ",", " d"}));
  EXPECT_EQ(words({"a\\d{2}|\\.\\.\\."}, "a1a12....x"), (Words{"a1", "a12", "...", ".x"}));
}

/// ByteLevel with add_prefix_space after another splitter. Tokens as in tokenizers 0.23.3.
TEST(Splitters, MayPutABlankBeforeEachWord) {
  const auto tokens_of = [](bool cuts, const std::string& text, const EncodeOptions& options = {}) {
    Json json = whole_text_json({{" ", "a"}, {" ", "x"}, {"a", " a"}});
    json["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"String", "x"}}}, {"behavior", "Isolated"}},
          {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", cuts}, {"trim_offsets", false}}}}};
    SmallTokenizer small(json);
    EXPECT_TRUE(small.ok());
    EXPECT_EQ(small.image().verify(), Status::kOk);
    return encode(small.open(), text, nullptr, options);
  };
  using Tokens = std::vector<int32_t>;
  const Encoded whole = tokens_of(false, "xa a a1x");
  EXPECT_EQ(whole.ids, (Tokens{260, 259, 259, 259, 3 + '1', 260}));
  EXPECT_EQ(whole.offsets[1].begin, 1u);  // the blank is at the beginning of the word
  EXPECT_EQ(tokens_of(true, "xa a a1x").ids, whole.ids);
  EXPECT_EQ(tokens_of(true, " xx").ids, (Tokens{3 + ' ', 260, 260}));
  EXPECT_EQ(tokens_of(false, "").ids, Tokens());
  EncodeOptions two;  // two tokens, ending inside a word of the first splitter
  two.max_tokens = 2;
  EXPECT_EQ(tokens_of(true, "xa a a1x", two).ids, (Tokens{260, 259}));
  EXPECT_EQ(tokens_of(false, "xa a a1x", two).ids, (Tokens{260, 259}));
}

TEST(Splitters, NameWhatIsWrongWithThem) {
  const auto problem = [](const Json& splitter) {
    Folder folder;
    folder.write("tokenizer.json", splitting(splitter).dump());
    const Imported got = import_folder(folder);
    return got.found || got.problems.empty() ? std::string("none") : got.problems.front();
  };
  const auto has = [&](const Json& splitter, const char* words) {
    const std::string got = problem(splitter);
    EXPECT_NE(got.find(words), std::string::npos) << got;
  };
  has(split_at("", "Removed", false), "pre_tokenizer.pattern: should be a text or a regular expression");
  has(split_at(std::string(127, 'a'), "Removed", false), "too many states");
  has(split_at(std::string(128, 'a'), "Removed", false), "more than 127 characters");
  has(split_at("ab", "Sideways", false), "pre_tokenizer.behavior");
  has({{"type", "CharDelimiterSplit"}, {"delimiter", "ab"}}, "pre_tokenizer.delimiter: \"ab\" is more than one");
  has({{"type", "FixedLength"}, {"length", 0}}, "pre_tokenizer.length: should be a whole number above 0");
  has({{"type", "FixedLength"}, {"length", "x"}}, "pre_tokenizer.length: should be a whole number above 0");
  has({{"type", "FixedLength"}, {"length", 201}}, "pre_tokenizer.length: 201 is not supported");
  has({{"type", "Split"}, {"pattern", {{"Regex", "ab|c"}}}, {"behavior", "Contiguous"}}, "more than one character");
}

}  // namespace
}  // namespace bantam::tests
