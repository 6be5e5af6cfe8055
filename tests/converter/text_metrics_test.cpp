// Scores of generated texts agree with sacreBLEU and rouge_score.
#include "score/text_metrics.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/json_file.h"

namespace bantam::convert {
namespace {

TEST(TextMetrics, AreThoseOfTheUsualPackages) {
  std::ifstream lines(BANTAM_SOURCE_DIR "/tests/golden/text_scores/expected.jsonl");
  size_t sets = 0;
  for (std::string line; std::getline(lines, line); ++sets) {
    const Json expected = Json::parse(line);
    const auto made = expected.at("made").get<std::vector<std::string>>();
    const auto references = expected.at("references").get<std::vector<std::vector<std::string>>>();
    TextMetrics found;
    for (size_t i = 0; i < made.size(); ++i) found.add(made[i], references[i]);
    EXPECT_NEAR(found.bleu(), expected.at("bleu").get<double>(), 1e-12) << line;
    EXPECT_NEAR(found.chrf(), expected.at("chrf").get<double>(), 1e-12) << line;
    EXPECT_NEAR(found.rouge_1(), expected.at("rouge1").get<double>(), 1e-12) << line;
    EXPECT_NEAR(found.rouge_2(), expected.at("rouge2").get<double>(), 1e-12) << line;
    EXPECT_NEAR(found.rouge_l(), expected.at("rougeL").get<double>(), 1e-12) << line;
  }
  EXPECT_EQ(sets, 60U);
}

TEST(TextMetrics, WordErrorCountsTheFewestChanges) {
  TextMetrics found;
  found.add("the cat  sat", {"a cat sat down"});  // one word replaced, one omitted
  found.add("so so", {"so"});                     // one word too many
  EXPECT_DOUBLE_EQ(found.word_error(), 3.0 / 5.0);
  found.add("yes", {"no", "yes"});  // the best of several references
  EXPECT_DOUBLE_EQ(found.word_error(), 3.0 / 6.0);
  EXPECT_DOUBLE_EQ(found.exact_match(), 1.0 / 3.0);
}

TEST(TextMetrics, OfNothingAreNothing) {
  TextMetrics found;
  EXPECT_EQ(found.bleu(), 0);
  EXPECT_EQ(found.chrf(), 0);
  EXPECT_EQ(found.word_error(), 0);
  found.add("", {""});
  EXPECT_EQ(found.bleu(), 0);
  EXPECT_EQ(found.rouge_l(), 0);
  found.add("a\xff\xf0", {"\xc3"});  // invalid UTF-8
  EXPECT_EQ(found.chrf(), 0);
}

TEST(TextMetrics, CutsWordsAsMtevalDoes) {
  const std::vector<std::string> expected = {"(", "it", "costs", "1,000.5", ",", "10", "-", "12", "x", ")", "."};
  EXPECT_EQ(bleu_tokens("(it costs 1,000.5, 10-12 x)."), expected);
}

}  // namespace
}  // namespace bantam::convert
