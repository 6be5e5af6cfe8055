// The runtime computes the same results as Hugging Face `tokenizers` (make_golden.py).
#include <gtest/gtest.h>

#include <fstream>

#include "bantam/decode.h"
#include "base/json_file.h"
#include "tests/text/fixture.h"

namespace bantam::tests {
namespace {

/// A line of expected.jsonl.
struct Expected {
  std::string line;
  nlohmann::json values;
  std::string first, second;
  bool pair = false;
};

/// Calls check(tokenizer, expected) for each line of the golden tokenizer of this name; there must be more than `least`
/// lines.
template <typename Check>
void each_expected(const char* name, size_t least, const Check& check) {
  const std::filesystem::path folder = std::filesystem::path(BANTAM_SOURCE_DIR) / "tests/text/golden" / name;
  convert::Graph graph;
  std::vector<std::string> problems;
  ASSERT_TRUE(convert::import_tokenizer(folder, graph, problems)) << (problems.empty() ? "" : problems.front());
  TokenizerImage image(graph);
  Fault fault;
  ASSERT_EQ(image.verify(&fault), Status::kOk) << fault.what;
  const Tokenizer tokenizer = image.open();
  std::ifstream stream(folder / "expected.jsonl");
  size_t count = 0;
  for (Expected expected; std::getline(stream, expected.line); ++count) {
    expected.values = nlohmann::json::parse(expected.line);
    expected.first = expected.values.at("a").get<std::string>();
    expected.pair = !expected.values.at("b").is_null();
    expected.second = expected.pair ? expected.values.at("b").get<std::string>() : "";
    ASSERT_NO_FATAL_FAILURE(check(tokenizer, expected));
  }
  EXPECT_GT(count, least);
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, IdsOffsetsAndSegments) {
  each_expected(GetParam(), 40, [](const Tokenizer& tokenizer, const Expected& expected) {
    const nlohmann::json& values = expected.values;
    EncodeOptions options;
    options.max_tokens = values.at("max").get<uint32_t>();
    const Encoded got = encode(tokenizer, expected.first, expected.pair ? &expected.second : nullptr, options);
    ASSERT_EQ(got.status, Status::kOk) << expected.line;
    EXPECT_EQ(got.ids, values.at("ids").get<std::vector<int32_t>>()) << expected.line;
    EXPECT_EQ(got.segments, values.at("segments").get<std::vector<int32_t>>()) << expected.line;
    std::vector<uint32_t> begins;
    std::vector<uint32_t> ends;
    for (const Offset offset : got.offsets) {
      begins.push_back(offset.begin);
      ends.push_back(offset.end);
    }
    EXPECT_EQ(begins, values.at("begins").get<std::vector<uint32_t>>()) << expected.line;
    EXPECT_EQ(ends, values.at("ends").get<std::vector<uint32_t>>()) << expected.line;
  });
}

/// A text that does not fit gives a contiguous range of its tokens, for any amount of room.
TEST_P(Golden, AnyRoomHoldsAsManyTokens) {
  const bool left = std::string(GetParam()) == "truncate_left";
  each_expected(GetParam(), 40, [&](const Tokenizer& tokenizer, const Expected& expected) {
    EncodeOptions options;
    options.add_special = false;
    options.max_tokens = UINT32_MAX;
    const std::vector<int32_t> whole = encode(tokenizer, expected.first, nullptr, options).ids;
    const auto size = static_cast<uint32_t>(whole.size());
    for (uint32_t room = 1; room <= std::min(size, 24U); ++room) {
      options.max_tokens = room;
      for (const uint32_t skip : {0U, (size - room) / 2}) {
        options.skip = skip;
        const auto first = whole.begin() + (left ? size - skip - room : skip);
        EXPECT_EQ(encode(tokenizer, expected.first, nullptr, options).ids, std::vector<int32_t>(first, first + room))
            << expected.line << " at " << skip << ", room for " << room;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Settings, Golden,
                         ::testing::Values("uncased", "cased", "accents", "raw", "added", "truncate_right",
                                           "truncate_left", "roberta", "llama_words", "forms_nfc", "forms_albert",
                                           "unigram", "unigram_bytes", "clip", "gpt", "prefix", "words", "passes",
                                           "scripts", "split_texts"),
                         [](const auto& setting) { return std::string(setting.param); });

/// Results of tokenizers that transformers implements only in Python (make_slow_golden.py); they have no offsets.
class SlowGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(SlowGolden, IdsAndTexts) {
  each_expected(GetParam(), 100, [](const Tokenizer& tokenizer, const Expected& expected) {
    const nlohmann::json& values = expected.values;
    const Encoded got = encode(tokenizer, expected.first, expected.pair ? &expected.second : nullptr, {});
    ASSERT_EQ(got.status, Status::kOk) << expected.line;
    const auto ids = values.at("ids").get<std::vector<int32_t>>();
    EXPECT_EQ(got.ids, ids) << expected.line;
    for (const Offset offset : got.offsets)
      EXPECT_LE(offset.end, expected.first.size() + expected.second.size()) << expected.line;
    if (values.at("text").is_null()) return;
    std::string text(4096, '?');
    size_t size = 0;
    ASSERT_EQ(decode(tokenizer, ids.data(), ids.size(), true, text.data(), text.size(), &size), Status::kOk);
    text.resize(size);
    text.resize(text.find_last_not_of(' ') + 1);  // transformers strips texts
    EXPECT_EQ(text, values.at("text").get<std::string>()) << expected.line;
  });
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, SlowGolden, ::testing::Values("blenderbot_small", "m2m_100", "m2m_100_bpe"),
                         [](const auto& setting) { return std::string(setting.param); });

}  // namespace
}  // namespace bantam::tests
