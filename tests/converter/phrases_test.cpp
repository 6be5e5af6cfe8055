// Words, phrases and topics of texts.
#include "search/phrases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "search/topics.h"

namespace bantam::convert {
namespace {

using Texts = std::vector<std::string>;

TEST(Words, AreRunsOfTwoWordCharactersInLowerCase) {
  EXPECT_EQ(words_of("The x-ray, 42 cm; caf\xC3\x89!"), (Texts{"the", "ray", "42", "cm", "caf\xC3\xA9"}));
  EXPECT_EQ(words_of(""), Texts{});
  EXPECT_EQ(words_of("a b c"), Texts{});
  EXPECT_EQ(words_of("\xCE\xA3\xCE\x9A under_score"), (Texts{"\xCF\x83\xCE\xBA", "under_score"}));
  EXPECT_EQ(words_of("ab\xFF"
                     "cd \xE2\x82"),
            (Texts{"ab", "cd"}));
}

TEST(Words, StopWordsAreLowerCaseWords) {
  for (const std::string& word : english_stop_words()) EXPECT_EQ(words_of(word), Texts{word});
  EXPECT_EQ(english_stop_words().count("the"), 1U);
  EXPECT_EQ(english_stop_words().count("moon"), 0U);
}

TEST(Phrases, AreRunsWithoutStopWordsEachOnce) {
  EXPECT_EQ(phrases_of("the cat of the cat sat", 1, 2, {"the", "of"}), (Texts{"cat", "cat cat", "cat sat", "sat"}));
  EXPECT_EQ(phrases_of("one two three", 2, 3, {}), (Texts{"one two", "one two three", "two three"}));
  EXPECT_EQ(phrases_of("the", 1, 3, {"the"}), Texts{});
}

/// Maximal marginal relevance as in the paper, from all pairs.
std::set<size_t> by_definition(const std::vector<float>& text, const std::vector<float>& phrases, size_t count,
                               float diversity) {
  const size_t width = text.size(), n = phrases.size() / width;
  std::set<size_t> chosen;
  while (chosen.size() < std::min(count, n)) {
    size_t best = n;
    double most = -1e9;
    for (size_t i = 0; i < n; ++i) {
      if (chosen.count(i) != 0) continue;
      double similar = -1e9;
      for (const size_t other : chosen)
        similar = std::max(similar, double{dot(&phrases[i * width], &phrases[other * width], width)});
      const double to_text = double{dot(text.data(), &phrases[i * width], width)};
      const double value = chosen.empty() ? to_text : (1 - double{diversity}) * to_text - double{diversity} * similar;
      if (value > most) {
        most = value;
        best = i;
      }
    }
    chosen.insert(best);
  }
  return chosen;
}

std::vector<float> unit_vectors(std::mt19937& random, size_t count, size_t width) {
  std::normal_distribution<float> normal;
  std::vector<float> all;
  for (size_t i = 0; i < count; ++i) {
    std::vector<float> one(width);
    for (float& value : one) value = normal(random);
    const float length = std::sqrt(dot(one.data(), one.data(), width));
    for (const float value : one) all.push_back(value / length);
  }
  return all;
}

TEST(Phrases, ChosenByMaximalMarginalRelevance) {
  std::mt19937 random(3);
  for (const size_t width : {3U, 16U, 37U}) {
    const std::vector<float> text = unit_vectors(random, 1, width), phrases = unit_vectors(random, 30, width);
    for (const float diversity : {0.0F, 0.3F, 1.0F}) {
      const auto chosen = choose_phrases(text, phrases, 6, diversity);
      std::set<size_t> found;
      for (size_t i = 0; i < chosen.size(); ++i) {
        found.insert(chosen[i].phrase);
        EXPECT_GE(chosen[i == 0 ? 0 : i - 1].score, chosen[i].score);
      }
      EXPECT_EQ(found, by_definition(text, phrases, 6, diversity)) << width << " " << diversity;
    }
    EXPECT_EQ(choose_phrases(text, phrases, 100, 0).size(), 30U);
    EXPECT_TRUE(choose_phrases(text, {}, 5, 0.5F).empty());
  }
}

/// Vectors around four distant directions.
UnitVectors four_heaps(std::mt19937& random, size_t each) {
  std::normal_distribution<float> noise(0, 0.08F);
  UnitVectors vectors;
  vectors.width = 24;
  for (size_t i = 0; i < 4 * each; ++i) {
    std::vector<float> one(vectors.width);
    for (float& value : one) value = noise(random);
    one[i % 4 * 5] += 1;
    const float length = std::sqrt(dot(one.data(), one.data(), one.size()));
    for (const float value : one) vectors.values.push_back(value / length);
  }
  return vectors;
}

TEST(Topics, HeapsAreFoundWithAndWithoutTheirNumber) {
  std::mt19937 random(5);
  const UnitVectors vectors = four_heaps(random, 20);
  for (const uint32_t wanted : {4U, 0U}) {
    const Groups groups = group_vectors(vectors, wanted, nullptr);
    ASSERT_EQ(groups.count, 4U) << wanted;
    for (size_t i = 0; i < groups.of.size(); ++i) {
      EXPECT_EQ(groups.of[i] == groups.of[i % 4], true) << i;
      EXPECT_GT(groups.nearness[i], 0.8F);
    }
    EXPECT_EQ(std::set<uint32_t>(groups.of.begin(), groups.of.begin() + 4).size(), 4U);
    EXPECT_EQ(group_vectors(vectors, wanted, nullptr).of, groups.of);
  }
}

TEST(Topics, LikeVectorsAndFewVectorsMakeFewGroups) {
  UnitVectors same;
  same.width = 2;
  for (int i = 0; i < 9; ++i) same.values.insert(same.values.end(), {1, 0});
  EXPECT_EQ(group_vectors(same, 3, nullptr).count, 1U);
  same.values.resize(2);
  EXPECT_EQ(group_vectors(same, 0, nullptr).count, 1U);
  EXPECT_EQ(group_vectors({}, 0, nullptr).count, 0U);
}

TEST(Topics, WordsAreScoredByClassBasedTfIdf) {
  Groups groups;
  groups.count = 2;
  groups.of = {0, 0, 1};
  const auto words = words_of_groups({"moon tide moon", "tide", "moon rocket fuel fuel"}, groups, 2, 1, {});
  // Group 0: moon 2 of 4, tide 2 of 4; in total moon 3, tide 2, rocket 1, fuel 2; groups have 4 words on average.
  ASSERT_EQ(words[0].size(), 2U);
  EXPECT_EQ(words[0][0].word, "tide");
  EXPECT_NEAR(words[0][0].score, 0.5 * std::log(1 + 4.0 / 2), 1e-6);
  EXPECT_NEAR(words[0][1].score, 0.5 * std::log(1 + 4.0 / 3), 1e-6);
  EXPECT_EQ(words[1][0].word, "fuel");
  EXPECT_NEAR(words[1][0].score, 0.5 * std::log(1 + 4.0 / 2), 1e-6);
  EXPECT_EQ(words[1][1].word, "rocket");
}

}  // namespace
}  // namespace bantam::convert
