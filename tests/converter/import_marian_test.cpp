// Marian's own files: what the reader and the settings refuse, by the name of the item or the setting.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "converter/import_fixture.h"
#include "source/marian/marian_file.h"
#include "source/marian/marian_settings.h"
#include "source/marian/marian_shortlist.h"

namespace bantam::convert::fixture {
namespace {

using namespace std::string_literals;  // for texts with zeros

struct MadeItem {
  std::string name;
  uint64_t type;
  std::vector<int32_t> shape;
  std::string bytes;
};

template <typename T>
std::string as_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string marian_bytes(const std::vector<MadeItem>& items, uint64_t version = 1) {
  std::string out = as_bytes<uint64_t>({version, items.size()});
  for (const MadeItem& item : items) {
    out += as_bytes<uint64_t>({item.name.size() + 1, item.type, item.shape.size(), item.bytes.size()});
  }
  for (const MadeItem& item : items) out += item.name + '\0';
  for (const MadeItem& item : items) out += as_bytes(item.shape);
  out += as_bytes<uint64_t>({5}) + "\0\0\0\0\0"s;
  for (const MadeItem& item : items) out += item.bytes;
  return out;
}

const std::string kFloats = as_bytes<float>({1, 2, 3, 4, 5, 6});
/// Six integers and their factor.
const std::string kIntegers = std::string("\1\2\3\4\5\xFA", 6) + as_bytes<float>({2});

std::string refusal_of(const std::string& bytes, ExitCode code = ExitCode::kInvalid) {
  return problems_of(code, [&] { const MarianFile file(bytes, "model.bin"); });
}

TEST(MarianFile, MatricesAreTurnedAndTablesAreNot) {
  const MarianFile file(marian_bytes({{"W", 0x404, {2, 3}, kFloats},
                                      {"W8", 0x4101, {2, 3}, kIntegers + "filled up"},
                                      {"half", 0x402, {2}, std::string("\x00\x3C\x00\xC1", 4)},
                                      {"W16", 0x4102, {1, 2}, as_bytes<int16_t>({300, -7}) + as_bytes<float>({4})},
                                      {"special:model.yml", 0x101, {5}, "a: b\0"s}}),
                        "model.bin");
  EXPECT_EQ(file.weight("W").values, (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(file.weight("W").shape, (std::vector<uint64_t>{3, 2}));
  EXPECT_EQ(file.table("W").values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.weight("W8").values, (std::vector<float>{0.5F, 1, 1.5F, 2, 2.5F, -3}));
  EXPECT_EQ(file.weight("W8").shape, (std::vector<uint64_t>{3, 2}));
  EXPECT_EQ(file.table("half").values, (std::vector<float>{1, -2.5F}));
  EXPECT_EQ(file.weight("W16").values, (std::vector<float>{75, -1.75F}));
  EXPECT_EQ(file.settings(), "a: b");
}

TEST(MarianFile, EveryCutIsRefused) {
  const std::string whole = marian_bytes({{"W", 0x404, {2, 3}, kFloats}, {"b", 0x404, {1}, as_bytes<float>({7})}});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(refusal_of(whole.substr(0, size)).find("model.bin"), std::string::npos) << size;
  }
  EXPECT_EQ(MarianFile(whole, "model.bin").items().size(), 2U);
}

TEST(MarianFile, ProblemsNameTheItem) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal_of(marian_bytes({{"W", 0x404, {1}, kFloats}}, 2), ExitCode::kUnsupported), "version 2");
  has(refusal_of(marian_bytes({{"W", 0x404, {1}, kFloats}}, 70)), "does not begin");
  has(refusal_of(marian_bytes({{"W", 0x404, {0}, kFloats}})), "\"W\": extent 0");
  has(refusal_of(marian_bytes({{"W", 0x404, {1 << 30, 1 << 30, 1 << 30}, kFloats}})), "\"W\"");
  has(refusal_of(marian_bytes({{"W", 0x404, std::vector<int32_t>(9, 1), kFloats}})), "9 extents");
  has(refusal_of(marian_bytes({{"W", 0x404, {1}, kFloats}, {"W", 0x404, {1}, kFloats}})), "\"W\": is there twice");
  struct Bad {
    MadeItem item;
    ExitCode code;
    const char* says;
  };
  const Bad kBad[] = {
      {{"W", 0x404, {7}, kFloats}, ExitCode::kInvalid, "24 bytes are too few"},
      {{"W", 0x4101, {7}, kIntegers}, ExitCode::kInvalid, "too few"},
      {{"W", 0x4101, {6}, kIntegers.substr(0, 6) + as_bytes<float>({0})}, ExitCode::kInvalid, "factor is 0"},
      {{"W", 0x404, {1}, std::string("\0\0\x80\x7F", 4)}, ExitCode::kInvalid, "element 0 is infinite"},
      {{"W", 0x5101, {6}, kIntegers}, ExitCode::kUnsupported, "intgemm8"},
      {{"W", 0x1901, {6}, kIntegers}, ExitCode::kUnsupported, "one kind of processor"},
      {{"W", 0x408, {1}, kFloats}, ExitCode::kUnsupported, "f64"},
      {{"W", 0x101, {6}, kIntegers}, ExitCode::kUnsupported, "without a factor"},
      {{"W", 0x7, {1}, kFloats}, ExitCode::kUnsupported, "0x7"},
  };
  for (const Bad& bad : kBad) {
    const MarianFile file(marian_bytes({bad.item}), "model.bin");
    const std::string found = problems_of(bad.code, [&] { file.table("W"); });
    has(found, bad.says);
    has(found, "model.bin: item \"W\"");
  }
  const MarianFile file(marian_bytes({{"b", 0x404, {6}, kFloats}}), "model.bin");
  has(problems_of(ExitCode::kInvalid, [&] { file.weight("b"); }), "not a matrix");
  has(problems_of(ExitCode::kInvalid, [&] { file.table("c"); }), "\"c\" is missing");
}

/// Lists for sources 0 and 2; source 1 has none.
std::string shortlist_bytes(const std::vector<uint64_t>& begins = {0, 2, 2, 3}, uint32_t word = 9, uint64_t first = 4,
                            uint64_t listed = 3) {
  const std::string behind =
      as_bytes<uint64_t>({first, 2, begins.size(), listed}) + as_bytes(begins) + as_bytes<uint32_t>({5, 7, word});
  uint64_t sum = 0;
  for (size_t at = 0; at + 8 <= behind.size(); at += 8) {
    uint64_t value = 0;
    std::memcpy(&value, behind.data() + at, 8);
    sum ^= value + 0x9E3779B9 + (sum << 6) + (sum >> 2);
  }
  return as_bytes<uint64_t>({0xF11A48D5013417F5, sum}) + behind;
}

std::string shortlist_refusal(const std::string& bytes, uint64_t sources = 3, uint64_t words = 10) {
  return problems_of(ExitCode::kInvalid, [&] { read_marian_shortlist(bytes, "lex.bin", sources, words); });
}

TEST(MarianShortlist, ListsAreThoseOfTheFile) {
  EXPECT_TRUE(is_marian_shortlist(shortlist_bytes()));
  EXPECT_FALSE(is_marian_shortlist("the der 0.5\n"));
  EXPECT_FALSE(is_marian_shortlist(""));
  const SourceShortlist found = read_marian_shortlist(shortlist_bytes(), "lex.bin", 3, 10);
  EXPECT_EQ(found.words, 10U);
  EXPECT_EQ(found.first, 4U);
  EXPECT_EQ(found.multiple, 8U);
  EXPECT_EQ(found.lists, (std::vector<std::vector<uint32_t>>{{5, 7}, {}, {9}}));
}

TEST(MarianShortlist, EveryCutIsRefused) {
  const std::string whole = shortlist_bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(shortlist_refusal(whole.substr(0, size)).find("lex.bin"), std::string::npos) << size;
  }
  for (size_t at = 8; at + 4 < whole.size(); ++at) {  // the checksum covers multiples of 8 bytes
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 4);
    EXPECT_NE(shortlist_refusal(other).find("lex.bin"), std::string::npos) << at;
  }
}

TEST(MarianShortlist, ProblemsSayWhatAndWhatNext) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(shortlist_refusal("the der 0.5\n"), "not a binary shortlist");
  has(shortlist_refusal(shortlist_bytes(), 4), "lists of 3 words, the model's source has 4");
  has(shortlist_refusal(shortlist_bytes(), 3, 9), "the list of word 2 has word 9, the model's target has 9");
  has(shortlist_refusal(shortlist_bytes(), 3, 3), "4 words in every list");
  has(shortlist_refusal(shortlist_bytes({0, 2, 2, 3}, 9, 0)), "0 words in every list");
  has(shortlist_refusal(shortlist_bytes({0, 3, 2, 3})), "the list of word 1 ends in front of its begin");
  has(shortlist_refusal(shortlist_bytes({0, 2, 2, 4})), "beyond the file");
  has(shortlist_refusal(shortlist_bytes({1, 2, 2, 3})), "the list of word 0");
  has(shortlist_refusal(shortlist_bytes({0, 2, 2, 3}, 9, 4, 1ULL << 62)), "not those of 4 lists");
  has(shortlist_refusal(shortlist_bytes() + "more"), "not those of 4 lists");
}

TEST(MarianSettings, AreValuesAndLists) {
  const MarianSettings settings("# a\na: 1\nb: \"x y\"\r\nc:\n  - d\n  - \"e f\"\ng: []\n  h: 2\nnone\n- i",
                                "config.yml");
  Problems problems;
  EXPECT_EQ(settings.count("a", 5, 7, &problems), 1U);
  EXPECT_EQ(settings.count("z", 5, 7, &problems), 7U);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(settings.text("b", ""), "x y");
  EXPECT_EQ(settings.list("c"), (std::vector<std::string>{"d", "e f"}));
  EXPECT_EQ(settings.list("g"), std::vector<std::string>{"i"});
  EXPECT_FALSE(settings.has("h"));
  for (const char* key : {"b", "c"}) settings.count(key, 5, 1, &problems);
  EXPECT_EQ(problems.size(), 2U);
}

/// Returns the settings of a student.
std::string student_settings(const std::string& changed = "") {
  return "type: transformer\ntransformer-decoder-autoreg: rnn\ndec-cell: ssru\ntransformer-preprocess: \"\"\n"
         "transformer-postprocess: dan\ntied-embeddings-all: true\n" +
         changed;
}

TEST(MarianSettings, WhatAStudentIsNotIsRefusedByName) {
  const auto problems_with = [](const std::string& text) {
    return problems_of(ExitCode::kUnsupported, [&] {
      Problems problems;
      check_marian(MarianSettings(text, "model.yml"), &problems);
      problems.raise();
    });
  };
  Problems none;
  check_marian(MarianSettings(student_settings(), "model.yml"), &none);
  EXPECT_TRUE(none.empty());
  const std::pair<const char*, std::vector<const char*>> kSettings[] = {
      {"type: s2s", {"type: \"s2s\"", "students"}},
      {"dec-cell: gru", {"dec-cell: \"gru\"", "--dec-cell ssru"}},
      {"dec-cell: lstm", {"\"lstm\""}},
      {"transformer-decoder-autoreg: self-attention", {"self-attention", "convert_marian_to_pytorch"}},
      {"transformer-preprocess: n", {"transformer-preprocess"}},
      {"transformer-postprocess: da", {"transformer-postprocess"}},
      {"transformer-ffn-activation: tanh", {"transformer-ffn-activation"}},
      {"transformer-ffn-depth: 3", {"transformer-ffn-depth"}},
      {"transformer-tied-layers:\n  - 1\n  - 1", {"transformer-tied-layers"}},
      {"transformer-train-position-embeddings: true", {"transformer-train-position-embeddings"}},
      {"lemma-dim-emb: 16", {"lemma-dim-emb", "factors"}},
      {"right-left: true", {"right-left"}},
      {"tied-embeddings-all: false", {"tied-embeddings-all"}},
  };
  for (const auto& [changed, says] : kSettings) {
    const std::string found = problems_with(student_settings(changed));
    for (const char* part : says) EXPECT_NE(found.find(part), std::string::npos) << changed << ": " << found;
  }
  const std::string both = problems_with(student_settings("right-left: true\nlemma-dim-emb: 16"));
  EXPECT_NE(both.find("right-left"), std::string::npos);
  EXPECT_NE(both.find("lemma-dim-emb"), std::string::npos);
}

}  // namespace
}  // namespace bantam::convert::fixture
