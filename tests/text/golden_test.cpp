// What Hugging Face `tokenizers` computed (make_golden.py) is what the runtime computes.
#include <gtest/gtest.h>

#include <fstream>

#include "bantam/decode.h"
#include "base/json_file.h"
#include "tests/text/fixture.h"

namespace bantam::tests {
namespace {

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, IdsOffsetsAndSegments) {
  const std::filesystem::path folder = std::filesystem::path(BANTAM_SOURCE_DIR) / "tests/text/golden" / GetParam();
  convert::Graph graph;
  std::vector<std::string> problems;
  ASSERT_TRUE(convert::import_tokenizer(folder, graph, problems)) << (problems.empty() ? "" : problems.front());
  TokenizerImage image(graph);
  Fault fault;
  ASSERT_EQ(image.verify(&fault), Status::kOk) << fault.what;
  const Tokenizer tokenizer = image.open();
  std::ifstream stream(folder / "expected.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(stream, line); ++count) {
    const auto expected = nlohmann::json::parse(line);
    const std::string first = expected.at("a").get<std::string>();
    const bool pair = !expected.at("b").is_null();
    const std::string second = pair ? expected.at("b").get<std::string>() : "";
    EncodeOptions options;
    options.max_tokens = expected.at("max").get<uint32_t>();
    const Encoded got = encode(tokenizer, first, pair ? &second : nullptr, options);
    ASSERT_EQ(got.status, Status::kOk) << line;
    EXPECT_EQ(got.ids, expected.at("ids").get<std::vector<int32_t>>()) << line;
    EXPECT_EQ(got.segments, expected.at("segments").get<std::vector<int32_t>>()) << line;
    std::vector<uint32_t> begins;
    std::vector<uint32_t> ends;
    for (const Offset offset : got.offsets) {
      begins.push_back(offset.begin);
      ends.push_back(offset.end);
    }
    EXPECT_EQ(begins, expected.at("begins").get<std::vector<uint32_t>>()) << line;
    EXPECT_EQ(ends, expected.at("ends").get<std::vector<uint32_t>>()) << line;
  }
  EXPECT_GT(count, 40u);
}

INSTANTIATE_TEST_SUITE_P(Settings, Golden,
                         ::testing::Values("uncased", "cased", "accents", "raw", "added", "truncate_right",
                                           "truncate_left", "roberta", "llama_words", "forms_nfc", "forms_albert",
                                           "unigram", "unigram_bytes", "clip", "gpt", "prefix", "words", "passes",
                                           "scripts", "split_texts"),
                         [](const auto& setting) { return std::string(setting.param); });

/// What tokenizers make that transformers has in Python only (make_slow_golden.py): they say nothing of offsets.
class SlowGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(SlowGolden, IdsAndTexts) {
  const std::filesystem::path folder = std::filesystem::path(BANTAM_SOURCE_DIR) / "tests/text/golden" / GetParam();
  convert::Graph graph;
  std::vector<std::string> problems;
  ASSERT_TRUE(convert::import_tokenizer(folder, graph, problems)) << (problems.empty() ? "" : problems.front());
  TokenizerImage image(graph);
  Fault fault;
  ASSERT_EQ(image.verify(&fault), Status::kOk) << fault.what;
  const Tokenizer tokenizer = image.open();
  std::ifstream stream(folder / "expected.jsonl");
  size_t count = 0;
  for (std::string line; std::getline(stream, line); ++count) {
    const auto expected = nlohmann::json::parse(line);
    const std::string first = expected.at("a").get<std::string>();
    const bool pair = !expected.at("b").is_null();
    const std::string second = pair ? expected.at("b").get<std::string>() : "";
    const Encoded got = encode(tokenizer, first, pair ? &second : nullptr, {});
    ASSERT_EQ(got.status, Status::kOk) << line;
    const auto ids = expected.at("ids").get<std::vector<int32_t>>();
    EXPECT_EQ(got.ids, ids) << line;
    for (const Offset offset : got.offsets) EXPECT_LE(offset.end, first.size() + second.size()) << line;
    if (expected.at("text").is_null()) continue;
    std::string text(4096, '?');
    size_t size = 0;
    ASSERT_EQ(decode(tokenizer, ids.data(), ids.size(), true, text.data(), text.size(), &size), Status::kOk);
    text.resize(size);
    text.resize(text.find_last_not_of(' ') + 1);  // transformers strips texts
    EXPECT_EQ(text, expected.at("text").get<std::string>()) << line;
  }
  EXPECT_GT(count, 100u);
}

INSTANTIATE_TEST_SUITE_P(Tokenizers, SlowGolden, ::testing::Values("blenderbot_small", "m2m_100", "m2m_100_bpe"),
                         [](const auto& setting) { return std::string(setting.param); });

}  // namespace
}  // namespace bantam::tests
