// Guesses of tokens against their definition, and the passes that guesses cost and save.
#include "bantam/guesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace bantam {
namespace {

std::vector<int32_t> guesses(const std::vector<int32_t>& ids, uint32_t most) {
  std::vector<int32_t> out(kMostGuesses, -1);
  out.resize(guess_repeat(ids.data(), static_cast<uint32_t>(ids.size()), most, out.data()));
  return out;
}

TEST(GuessRepeat, TakesWhatFollowedTheLongestLatestMatch) {
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(guesses({}, 4), Ids());
  EXPECT_EQ(guesses({7}, 4), Ids());
  EXPECT_EQ(guesses({7, 7}, 4), Ids());
  EXPECT_EQ(guesses({1, 2, 3, 2}, 4), Ids()) << "one token is no match";
  EXPECT_EQ(guesses({1, 2, 3, 4, 1, 2}, 2), Ids({3, 4}));
  EXPECT_EQ(guesses({1, 2, 3, 1, 2, 4, 1, 2}, 1), Ids({4})) << "the latest among equals";
  EXPECT_EQ(guesses({9, 1, 2, 3, 1, 2, 4, 9, 1, 2}, 1), Ids({3})) << "the longest";
  EXPECT_EQ(guesses({5, 6, 5, 6}, 5), Ids({5, 6, 5, 6, 5})) << "repeats itself behind the end";
  EXPECT_EQ(guesses({7, 7, 7}, 3), Ids({7, 7, 7}));
  EXPECT_EQ(guesses({1, 2, 3, 1, 2}, 100).size(), kMostGuesses);
  EXPECT_EQ(guesses({1, 2, 3, 1, 2}, 0), Ids());
}

TEST(GuessRepeat, FollowsItsDefinition) {
  std::mt19937 random(5);
  for (uint32_t round = 0; round < 2000; ++round) {
    std::vector<int32_t> ids(random() % 60);
    for (int32_t& id : ids) id = static_cast<int32_t>(random() % 3);
    size_t place = 0, best = 0;
    for (size_t end = 1; end < ids.size(); ++end) {
      size_t same = 0;
      while (same < 8 && same < end && ids[end - 1 - same] == ids[ids.size() - 1 - same]) ++same;
      if (same >= best && same >= 2) {
        best = same;
        place = end;
      }
    }
    std::vector<int32_t> expected = ids;
    if (best != 0) {
      for (size_t i = 0; i < 5; ++i) expected.push_back(expected[place + i]);
    }
    EXPECT_EQ(guesses(ids, 5),
              std::vector<int32_t>(expected.begin() + static_cast<ptrdiff_t>(ids.size()), expected.end()));
  }
}

/// Returns the share of passes and the rows of a pass for a text of 2,000 tokens of which `right` says whether the
/// guess of a token is right.
template <typename Right>
std::pair<double, double> cost(uint32_t most, const Right& right) {
  constexpr uint32_t kTokens = 2000;
  GuessCount counter(most);
  uint32_t passes = 0, rows = 0;
  for (uint32_t made = 0; made < kTokens;) {
    const uint32_t guessed = counter.next();
    EXPECT_LE(guessed, most);
    uint32_t kept = 0;
    while (kept < guessed && right(made + kept)) ++kept;
    counter.took(guessed, kept);
    made += kept + 1;
    ++passes;
    rows += guessed + 1;
  }
  return {static_cast<double>(passes) / kTokens, static_cast<double>(rows) / passes};
}

TEST(GuessCount, SavesPassesAndCostsFewRows) {
  const auto all = cost(8, [](uint32_t) { return true; });
  EXPECT_LT(all.first, 0.12) << "nine tokens a pass";
  const auto none = cost(8, [](uint32_t) { return false; });
  EXPECT_EQ(none.first, 1);
  EXPECT_LT(none.second, 1.025) << "a guess in one of 64 passes";
  std::mt19937 random(1);
  const auto most = cost(4, [&](uint32_t) { return random() % 10 < 7; });
  EXPECT_LT(most.first, 0.48);
  const auto few = cost(8, [&](uint32_t) { return random() % 10 == 0; });
  EXPECT_LT(few.first * (1 + 0.25 * (few.second - 1)), 1.01) << "no loss if a row costs a quarter of a pass";
}

TEST(GuessCount, HasLimits) {
  GuessCount one(0);
  EXPECT_EQ(one.next(), 1U);
  one.took(1, 1);
  EXPECT_EQ(one.next(), 1U);
  GuessCount many(1000);
  for (uint32_t i = 0; i < 10; ++i) {
    const uint32_t guessed = many.next();
    EXPECT_LE(guessed, kMostGuesses);
    many.took(guessed, guessed);
  }
  EXPECT_EQ(many.next(), kMostGuesses);
  many.took(0, 0);
  EXPECT_EQ(many.next(), kMostGuesses) << "a pass without guesses says nothing";
  many.took(kMostGuesses, 3);
  EXPECT_EQ(many.next(), kMostGuesses - 1);
}

}  // namespace
}  // namespace bantam
