// Constraints to a list of answers, compared with a linear search of the list.
#include "bantam/constraint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "bantam/sampling.h"

namespace bantam::tests {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kEnd = 7;  // the end token

/// A list of answers and its memory.
struct AnswerList {
  explicit AnswerList(std::vector<Ids> given) : answers(std::move(given)), memory(answers.size()) {
    for (const Ids& answer : answers) {
      ids.insert(ids.end(), answer.begin(), answer.end());
      offsets.push_back(static_cast<uint32_t>(ids.size()));
    }
  }
  Status open(EndTokens with = {&kEnd, 1}) {
    return automaton.open(ids.data(), offsets.data(), static_cast<uint32_t>(answers.size()), with, memory.data(),
                          memory.size() * sizeof(uint32_t));
  }

  std::vector<Ids> answers;
  Ids ids;
  std::vector<uint32_t> offsets = {0}, memory;
  Answers automaton;
};

Status follow(const Constraint& constraint, const Ids& made, TextEnd* end, uint32_t room = 99) {
  return constraint.follow(constraint.state, made.data(), static_cast<uint32_t>(made.size()), room, end);
}

/// Returns the tokens that may follow, by checking each answer.
std::set<int32_t> followers(const std::vector<Ids>& answers, const Ids& made) {
  std::set<int32_t> out;
  for (const Ids& answer : answers) {
    if (answer.size() < made.size() || !std::equal(made.begin(), made.end(), answer.begin())) continue;
    out.insert(answer.size() == made.size() ? kEnd : answer[made.size()]);
  }
  return out;
}

TEST(Answers, AllowWhatSomeAnswerGoesOnWith) {
  std::mt19937 random(1);
  for (uint32_t round = 0; round < 300; ++round) {
    std::vector<Ids> answers(1 + random() % 12);
    for (Ids& answer : answers) {
      answer.resize(1 + random() % 5);
      for (int32_t& id : answer) id = static_cast<int32_t>(random() % (round % 2 == 0 ? 3 : 6));
    }
    AnswerList list(answers);
    ASSERT_EQ(list.open(), Status::kOk);
    const Constraint constraint = list.automaton.constraint();
    for (const Ids& answer : answers) {
      for (size_t size = 0; size <= answer.size(); ++size) {
        const Ids made(answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(size));
        const std::set<int32_t> expected = followers(answers, made);
        TextEnd end = TextEnd::kNo;
        ASSERT_EQ(follow(constraint, made, &end), Status::kOk);
        for (int32_t id = -1; id < 9; ++id) {
          EXPECT_EQ(constraint.allows(constraint.state, id), expected.count(id) == 1) << round << " " << id;
        }
        const bool may = expected.count(kEnd) == 1;
        EXPECT_EQ(end, !may ? TextEnd::kNo : expected.size() == 1 ? TextEnd::kMust : TextEnd::kMay);
        const auto first = std::find(answers.begin(), answers.end(), made);
        EXPECT_EQ(list.automaton.find(made.data(), static_cast<uint32_t>(size)), first - answers.begin());
      }
    }
    const Ids other = {6, 6};
    TextEnd end = TextEnd::kNo;
    EXPECT_EQ(follow(constraint, other, &end), Status::kInvalidArgument);
  }
}

TEST(Answers, WhatCannotBeIsAStatus) {
  TextEnd end = TextEnd::kNo;
  AnswerList list({{1, 2, 3}, {1, 2}});
  ASSERT_EQ(list.open(), Status::kOk);
  EXPECT_EQ(follow(list.automaton.constraint(), {}, &end, 2), Status::kTooManyTokens);
  EXPECT_EQ(follow(list.automaton.constraint(), {}, &end, 3), Status::kOk);
  EXPECT_EQ(follow(list.automaton.constraint(), {-1}, &end), Status::kInvalidArgument);
  EXPECT_EQ(follow(list.automaton.constraint(), {INT32_MAX}, &end), Status::kInvalidArgument);
  // One answer begins with the other, and without an end token they could not be distinguished.
  EXPECT_EQ(list.open({}), Status::kInvalidArgument);
  EXPECT_EQ(AnswerList({{1, 3}, {1, 2}, {1, 2}}).open({}), Status::kOk);
  EXPECT_EQ(AnswerList({{1}, {}}).open(), Status::kInvalidArgument);
  EXPECT_EQ(AnswerList({{1, -2}}).open(), Status::kInvalidArgument);
  EXPECT_EQ(AnswerList({{1, kEnd}}).open(), Status::kInvalidArgument);
  uint32_t memory[2] = {};
  const EndTokens ends = {&kEnd, 1};
  const auto opened = [&](uint32_t count, void* at, size_t size) {
    return list.automaton.open(list.ids.data(), list.offsets.data(), count, ends, at, size);
  };
  EXPECT_EQ(opened(2, memory, 7), Status::kBufferTooSmall);
  EXPECT_EQ(opened(0, memory, 8), Status::kInvalidArgument);
  EXPECT_EQ(opened(UINT32_MAX, memory, 8), Status::kInvalidArgument);
  EXPECT_EQ(opened(2, nullptr, 8), Status::kInvalidArgument);
  EXPECT_EQ(opened(2, reinterpret_cast<char*>(memory) + 1, 8), Status::kMisaligned);
  Answers closed;
  EXPECT_EQ(closed.find(list.ids.data(), 1), 0u);
  EXPECT_EQ(follow(closed.constraint(), {}, &end), Status::kInvalidArgument);
}

/// Choices must be the same as with all tokens banned except the allowed ones.
TEST(Constraint, ChoicesAreThoseWithoutWhatIsNotAllowed) {
  std::mt19937 random(2);
  std::normal_distribution<float> draw(0, 3);
  for (uint32_t round = 0; round < 200; ++round) {
    AnswerList list({{20, 21}, {20, 22, 23}, {3}, {3, 4}, {11, 12}});
    ASSERT_EQ(list.open(), Status::kOk);
    const Constraint constraint = list.automaton.constraint();
    const std::vector<Ids> texts = {{}, {20}, {3}, {20, 22}};
    const Ids made = texts[round % texts.size()];
    Ids history = {1, 2, 3};  // the prompt
    history.insert(history.end(), made.begin(), made.end());
    std::vector<float> scores(40);
    for (float& score : scores) score = draw(random);
    const std::set<int32_t> allowed = followers(list.answers, made);
    Ids banned;
    for (int32_t id = 0; id < 40; ++id) {
      if (allowed.count(id) == 0) banned.push_back(id);
    }
    Sampling sampling;
    sampling.temperature = round % 3 == 0 ? 0.0F : 1.5F;
    sampling.top_p = round % 3 == 1 ? 0.8F : 1.0F;
    sampling.seed = round;
    sampling.log_probability = true;
    Sampling constrained = sampling;
    constrained.constraint = &constraint;
    constrained.prompt = 3;
    constrained.max_new = 5;
    sampling.banned = banned.data();
    sampling.banned_count = static_cast<uint32_t>(banned.size());
    const auto choose = [&](const Sampling& settings, NextToken* next) {
      std::vector<float> copy = scores;
      return choose_token(copy.data(), 40, history.data(), static_cast<uint32_t>(history.size()), settings, next);
    };
    NextToken expected, found;
    ASSERT_EQ(choose(sampling, &expected), Status::kOk);
    ASSERT_EQ(choose(constrained, &found), Status::kOk);
    EXPECT_EQ(found.id, expected.id);
    EXPECT_EQ(found.log_probability, expected.log_probability);
    // Settings that leave no token.
    const Ids rest(allowed.begin(), allowed.end());
    constrained.banned = rest.data();
    constrained.banned_count = static_cast<uint32_t>(rest.size());
    EXPECT_EQ(choose(constrained, &found), Status::kNoTokenAllowed);
    constrained.banned_count = 0;
    constrained.forced = 39;
    EXPECT_EQ(choose(constrained, &found), Status::kNoTokenAllowed);
    constrained.forced = -1;
    constrained.prompt = 99;
    EXPECT_EQ(choose(constrained, &found), Status::kInvalidArgument);
    constrained.prompt = 2;  // the last token of the prompt does not begin an answer, but 3 does
    EXPECT_EQ(choose(constrained, &found), made.empty() ? Status::kOk : Status::kInvalidArgument);
    constrained.prompt = 3;
    constrained.max_new = made.empty() ? 2 : 5;
    EXPECT_EQ(choose(constrained, &found), made.empty() ? Status::kTooManyTokens : Status::kOk);
    const Constraint nothing;
    constrained.constraint = &nothing;
    EXPECT_EQ(choose(constrained, &found), Status::kInvalidArgument);
  }
}

}  // namespace
}  // namespace bantam::tests
