// Chains of normalizers before byte-level BPE: their results, invalid ones, which are refused, and time proportional to
// the text.
#include <gtest/gtest.h>

#include <functional>

#include "tests/text/bpe_vocabulary.h"
#include "text/code_table.h"
#include "text/normal_sequence.h"

namespace bantam::tests {
namespace {

using Json = nlohmann::json;

/// A tokenizer of single bytes after these normalizers.
Json with_normalizers(const Json& stages) {
  Json json = whole_text_json({});
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", stages}};
  return json;
}

struct Normal {
  std::string text;
  std::vector<Offset> offsets;
};

/// Returns the normalized text, one token per byte.
Normal normalize(SmallTokenizer& small, const std::string& text) {
  Normal result;
  if (!small.ok()) return {"not imported", {}};
  const Tokenizer tokenizer = small.open();
  const Encoded got = encode(tokenizer, text);
  for (const int32_t id : got.ids) {
    const Text byte = tokenizer.token(static_cast<uint32_t>(id));
    result.text.append(byte.data, byte.size);
  }
  result.offsets = got.offsets;
  return result;
}

const Json kRuns = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "_"}};
const Json kQuotes = {{"type", "Replace"}, {"pattern", {{"String", "``"}}}, {"content", "\""}};

TEST(NormalSequence, Forms) {
  SmallTokenizer nfc(with_normalizers({{{"type", "NFC"}}}));
  EXPECT_EQ(normalize(nfc, "Cafe\u0301 \u1100\u1161\u11a8").text, "Caf\u00e9 \uac01");
  EXPECT_EQ(normalize(nfc, "a\u0301\u0323").text, "\u1ea1\u0301");
  SmallTokenizer nfkd(with_normalizers({{{"type", "NFKD"}}, {{"type", "StripAccents"}}, {{"type", "Lowercase"}}}));
  EXPECT_EQ(normalize(nfkd, "\ufb01 \u212bNGSTR\u00d6M \u2460").text, "fi angstrom 1");
  // A composition has the bytes of its first code point, as in Hugging Face's library.
  const Normal got = normalize(nfc, "e\u0301x");
  ASSERT_EQ(got.offsets.size(), 3u);
  EXPECT_EQ(got.offsets[0].end, 1u);
  EXPECT_EQ(got.offsets[2].begin, 3u);
}

TEST(NormalSequence, ReplacesStripsAndPrepends) {
  SmallTokenizer small(with_normalizers({kQuotes,
                                         {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}},
                                         kRuns,
                                         {{"type", "Prepend"}, {"prepend", ">"}}}));
  EXPECT_EQ(normalize(small, "  a``b ```  c   d ").text, ">a\"b \"`_c_d");
  EXPECT_EQ(normalize(small, "   ").text, "");
  EXPECT_EQ(normalize(small, "").text, "");
  const Normal got = normalize(small, " a  b");
  ASSERT_EQ(got.text, ">a_b");
  EXPECT_EQ(got.offsets[0].begin, 1u) << "what is prepended has the bytes of the first code point";
  EXPECT_EQ(got.offsets[2].begin, 3u) << "what replaces a run has the bytes of the run's last code point";
  EXPECT_EQ(got.offsets[2].end, 4u);
}

/// The first steps of DeBERTa, Barthez and Pegasus as transformers 5 saves them.
TEST(NormalSequence, ReplacesWhiteSpaceByAlternatives) {
  const Json runs = {{"type", "Replace"}, {"pattern", {{"Regex", R"(\s{2,}|[\n\r\t])"}}}, {"content", " "}};
  SmallTokenizer small(with_normalizers(Json::array({runs})));
  EXPECT_EQ(normalize(small, "a\nb\t c\r\n\u00a0d e\n\n").text, "a b c d e ");
  EXPECT_EQ(normalize(small, "\x0b|\f").text, "\x0b|\f") << "one of other white space stays";
  SmallTokenizer lines(with_normalizers({{{"type", "Replace"}, {"pattern", {{"Regex", "\\n"}}}, {"content", " "}}}));
  EXPECT_EQ(normalize(lines, "a\nb\n\nc\td").text, "a b  c\td");
}

/// The last steps of SeamlessM4T as transformers 5 saves them, with "_" instead of its mark.
const Json kMarks = {{{"type", "Replace"}, {"pattern", {{"Regex", R"([\n\r\t])"}}}, {"content", " "}},
                     {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}},
                     {{"type", "Replace"}, {"pattern", {{"Regex", " +_"}}}, {"content", "_"}},
                     {{"type", "Replace"}, {"pattern", {{"Regex", "^_+$"}}}, {"content", ""}},
                     kRuns};

TEST(NormalSequence, DropsRunsInFrontOfAMarkAndTextsOfMarks) {
  SmallTokenizer small(with_normalizers(kMarks));
  EXPECT_EQ(normalize(small, "a  _b     _ c_").text, "a_b_ c_");
  EXPECT_EQ(normalize(small, "a    b  c d").text, "a_b_c d");
  EXPECT_EQ(normalize(small, "__ a").text, "__ a");
  EXPECT_EQ(normalize(small, " __").text, "");
  EXPECT_EQ(normalize(small, "\n_ \t_ \n").text, "");
  EXPECT_EQ(normalize(small, long_text("_", 3000)).text, "");
  EXPECT_EQ(normalize(small, long_text("_", 3000) + "a").text, long_text("_", 3000) + "a");
  const Normal got = normalize(small, "a   _b   c");
  ASSERT_EQ(got.text, "a_b_c");
  EXPECT_EQ(got.offsets[1].begin, 4u);
  EXPECT_EQ(got.offsets[1].end, 5u);
  EXPECT_EQ(got.offsets[3].begin, 8u) << "the run's last code point";
}

TEST(NormalSequence, NamesWhatIsNotSupported) {
  const auto problems_of = [](const Json& stages) {
    Folder folder;
    folder.write("tokenizer.json", with_normalizers(stages).dump());
    const Imported got = import_folder(folder);
    EXPECT_FALSE(got.found);
    return got.problems;
  };
  const std::pair<Json, const char*> cases[] = {
      {{{{"type", "Klingon"}}}, "\"Klingon\" is not supported"},
      {{{{"type", "Replace"}, {"pattern", {{"Regex", "a|b"}}}, {"content", ""}}}, "normalizer.pattern"},
      {{{{"type", "Replace"}, {"pattern", {{"Regex", R"(\s{2,}|[\n])"}}}, {"content", "\n"}}}, "normalizer.pattern"},
      {{{{"type", "Replace"}, {"pattern", {{"Regex", R"(\s{2,}|[\na])"}}}, {"content", " "}}}, "normalizer.pattern"},
      {{{{"type", "Replace"}, {"pattern", {{"Regex", R"(ab|[\n])"}}}, {"content", " "}}}, "normalizer.pattern"},
      {{{{"type", "Replace"}, {"pattern", {{"Regex", " +_"}}}, {"content", "_"}}}, "normalizer.pattern: runs in front"},
      {{{{"type", "Replace"}, {"pattern", {{"Regex", " +_"}}}, {"content", "_"}}, kMarks[0], kRuns},
       "normalizer.pattern: runs in front"},
      {{{{"type", "Replace"}, {"pattern", {{"Regex", "^_+$"}}}, {"content", ""}}}, "normalizer.pattern"},
      {{kMarks[0], {{"type", "Replace"}, {"pattern", {{"Regex", "^_+$"}}}, {"content", "x"}}}, "normalizer.pattern"},
      {{{{"type", "Replace"}, {"pattern", {{"String", "abcde"}}}, {"content", ""}}}, "longer than the 4 code points"},
      {{{{"type", "Prepend"}, {"prepend", "123456789"}}}, "longer than the 8 code points"},
      {{{{"type", "Precompiled"}, {"precompiled_charsmap", "####"}}}, "normalizer.precompiled_charsmap"},
      {{{{"type", "Precompiled"}, {"precompiled_charsmap", "AAAB"}}}, "normalizer.precompiled_charsmap"}};
  for (const auto& [stages, words] : cases) {
    const auto problems = problems_of(stages);
    ASSERT_EQ(problems.size(), 1u) << stages;
    EXPECT_NE(problems[0].find(words), std::string::npos) << problems[0];
  }
}

TEST(NormalSequence, RefusesInconsistentTables) {
  SmallTokenizer small(with_normalizers({{{"type", "NFC"}}, kRuns}));
  ASSERT_TRUE(small.ok());
  ASSERT_EQ(small.image().verify(), Status::kOk);
  uint8_t* forms = small.image().data() + blob_of(small.description(), fb::BlobName::forms)->offset();
  const auto with = [&](uint32_t* word, uint32_t value) {
    std::swap(*word, value);
    const Status status = small.image().verify();
    std::swap(*word, value);
    return status;
  };
  auto* words = reinterpret_cast<uint32_t*>(forms);
  EXPECT_EQ(with(words, 2), Status::kUnsupported) << "version";
  EXPECT_EQ(with(words + 6, 0), Status::kCorrupt) << "no tables";
  EXPECT_EQ(with(words + 6, 17), Status::kCorrupt) << "too many";
  EXPECT_EQ(with(words + 8, 0x7FFFFFFC), Status::kCorrupt) << "table behind the end";
  EXPECT_EQ(with(words + 8, words[8] + 1), Status::kCorrupt) << "not aligned";
  auto* table = reinterpret_cast<uint32_t*>(forms + words[8]);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(with(table + i, 0x7FFFFFFF), Status::kCorrupt) << i;
  EXPECT_EQ(with(table + 4, 0xFFFFFFFF), Status::kCorrupt) << "block";
  EXPECT_EQ(with(table + 4 + text::kCodeTop / 4, 0xFFFFFFFF), Status::kCorrupt) << "entry";
  using T = fb::TokenizerT;
  const std::pair<Status, std::function<void(T&)>> damages[] = {
      {Status::kCorrupt, [](T& t) { t.normalizers[0]->table = 9; }},
      {Status::kUnsupported,
       [](T& t) {
         t.normalizers[0]->kind = fb::NormalizerKind::bert;
         t.normalizers[1] = nullptr;
       }},
      {Status::kUnsupported, [](T& t) { t.normalizers[1]->kind = static_cast<fb::NormalizerKind>(99); }},
      {Status::kUnsupported, [](T& t) { t.normalizers[1]->least = 5; }},
      {Status::kUnsupported, [](T& t) { t.normalizers[1]->content = "123456789"; }},
      {Status::kCorrupt, [](T& t) { t.normalizers[1]->kind = fb::NormalizerKind::charsmap; }},
      {Status::kCorrupt, [](T& t) {
         auto& blob = blob_of(t, fb::BlobName::forms);
         blob = std::make_unique<fb::Blob>(blob->offset(), 20, 0, 0);
       }}};
  size_t number = 0;
  for (const auto& [status, apply] : damages) {
    SmallTokenizer fresh(with_normalizers({{{"type", "NFC"}}, kRuns}));
    apply(fresh.description());
    if (fresh.description().normalizers[1] == nullptr) fresh.description().normalizers.resize(1);
    fresh.image().repack(fresh.description());
    EXPECT_EQ(fresh.image().verify(), status) << number;
    ++number;
  }
}

TEST(LinearNormal, LongRuns) {
  const Json stages = {{{"type", "NFKC"}}, {{"type", "Strip"}}, kRuns, kQuotes};
  for (const char* piece :
       {"a", "\u0301", "e\u0301", " ", "\u00e9", "`", "\u0323\u0301", "\ufdfa ", "\xff", "\u0001"}) {
    SmallTokenizer small(with_normalizers(stages));
    ASSERT_TRUE(small.ok());
    EncodeResult result;
    EXPECT_EQ(count_tokens(small.open(), long_text(piece), &result), Status::kOk);
  }
}

}  // namespace
}  // namespace bantam::tests
