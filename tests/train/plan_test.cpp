#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "train/augment.h"
#include "train/batches.h"
#include "train/curve.h"

namespace bantam::train {
namespace {

TEST(Batches, HoldEveryExampleOnceAndFollowTheSeed) {
  std::vector<uint32_t> lengths(1000);
  for (uint32_t i = 0; i < 1000; ++i) lengths[i] = 3 + i * 7 % 23;
  const auto batches = epoch_batches(lengths, 16, 5, 2);
  std::set<uint32_t> seen;
  for (const auto& batch : batches) seen.insert(batch.begin(), batch.end());
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(batches.size(), 63U);
  EXPECT_EQ(batches, epoch_batches(lengths, 16, 5, 2));
  EXPECT_NE(batches, epoch_batches(lengths, 16, 5, 3));
  EXPECT_NE(batches, epoch_batches(lengths, 16, 6, 2));
}

TEST(Schedules, RiseAndFall) {
  EXPECT_LT(rate_at(0, 1000, 0.1), 0.02);
  EXPECT_NEAR(rate_at(100, 1000, 0.1), 1, 0.01);
  EXPECT_NEAR(rate_at(550, 1000, 0.1), 0.5, 0.01);
  EXPECT_LT(rate_at(999, 1000, 0.1), 0.01);
  EXPECT_GT(rate_at(0, 10, 0), 0.5);
  EXPECT_EQ(sparsity_at(0.05, 0.1, 0.6, 0.8), 0);
  EXPECT_EQ(sparsity_at(0.6, 0.1, 0.6, 0.8), 0.8);
  EXPECT_NEAR(sparsity_at(0.35, 0.1, 0.6, 0.8), 0.8 * (1 - 0.125), 1e-12);
}

TEST(Augment, ExchangesValuesOfOneSlot) {
  const std::vector<TaggedWords> sentences = {
      {{"play", "nina", "simone"}, {"O", "B-artist", "I-artist"}, 0},
      {{"play", "queen", "in", "rome"}, {"O", "B-artist", "O", "B-city"}, 1},
      {{"stop"}, {"O"}, 2},
      {{"add", "miles", "davis", "queen"}, {"O", "B-artist", "I-artist", "B-artist"}, 3}};
  const auto more = substitute_slots(sentences, 20, 0.5, 7);
  ASSERT_EQ(more.size(), 60U);  // "stop" has no slot
  const std::set<std::string> artists = {"nina", "simone", "queen", "miles", "davis"};
  bool changed = false;
  for (const TaggedWords& sentence : more) {
    ASSERT_EQ(sentence.words.size(), sentence.tags.size());
    ASSERT_NE(sentence.origin, 2U);
    for (size_t i = 0; i < sentence.words.size(); ++i) {
      const std::string& tag = sentence.tags[i];
      if (tag == "O") {
        EXPECT_EQ(artists.count(sentence.words[i]), 0U);
      } else {
        EXPECT_EQ(artists.count(sentence.words[i]), tag.substr(2) == "artist" ? 1U : 0U) << sentence.words[i];
      }
      if (tag[0] == 'I') {
        ASSERT_GT(i, 0U);
        EXPECT_EQ(sentence.tags[i - 1].substr(2), tag.substr(2));
      }
    }
    changed = changed || sentence.words != sentences[sentence.origin].words;
  }
  EXPECT_TRUE(changed);
  const auto again = substitute_slots(sentences, 20, 0.5, 7);
  for (size_t i = 0; i < more.size(); ++i) EXPECT_EQ(more[i].words, again[i].words);
}

TEST(Augment, VariesTexts) {
  const std::vector<Words> texts = {{"a", "good", "film"}, {"dull"}, {}, {"never", "a", "dull", "moment", "here"}};
  const auto more = vary_texts(texts, 40, 0.2, 7);
  ASSERT_EQ(more.size(), 120U);  // empty texts have no variants
  const std::set<std::string> known = {"a", "good", "film", "dull", "never", "moment", "here"};
  std::set<std::string> seen;
  size_t shorter = 0, longer = 0;
  for (size_t i = 0; i < more.size(); ++i) {
    ASSERT_FALSE(more[i].empty());
    for (const std::string& word : more[i]) ASSERT_EQ(known.count(word), 1U) << word;
    seen.insert(more[i].begin(), more[i].end());
    const size_t length = std::vector<size_t>{3, 1, 5}[i % 3];
    if (more[i].size() < length) ++shorter;
    if (more[i].size() > length) ++longer;
  }
  EXPECT_EQ(seen, known);
  EXPECT_GT(shorter, 10U);
  EXPECT_GT(longer, 10U);
  EXPECT_EQ(vary_texts(texts, 40, 0.2, 7), more);
  EXPECT_NE(vary_texts(texts, 40, 0.2, 8), more);
  EXPECT_TRUE(vary_texts({{}, {}}, 3, 1, 1).empty());
}

TEST(Curve, SurvivesTheCheckpoint) {
  CurvePoint point;
  point.epoch = 3;
  point.step = 120;
  point.rate = 1.0 / 3;
  point.losses = {{"loss", 0.1}, {"hard", 1.0 / 7}};
  point.scores = {{"accuracy", 2.0 / 3}};
  const auto back = curve_from_json(nlohmann::json::parse(to_json({point, point}).dump()));
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].losses, point.losses);
  EXPECT_EQ(back[1].rate, point.rate);
  EXPECT_EQ(curve_csv(back), curve_csv({point, point}));
  EXPECT_NE(curve_csv(back).find("epoch,step,learning_rate,sparsity,loss,hard,accuracy\n3,120,"), std::string::npos);
  const std::string html = curve_html(back, "a <b> & c");
  EXPECT_NE(html.find("a &lt;b&gt; &amp; c"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
  EXPECT_EQ(html.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace bantam::train
