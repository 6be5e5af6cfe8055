// Choices of tokens compared with their definitions, in double precision and with sorting.
#include "bantam/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace bantam {
namespace {

std::vector<float> random_scores(uint32_t count, std::mt19937* random) {
  std::normal_distribution<float> draw(0, 3);
  std::vector<float> scores(count);
  for (float& score : scores) score = draw(*random);
  return scores;
}

/// Returns a random number below `limit`.
uint32_t draw(std::mt19937* random, uint32_t limit) { return static_cast<uint32_t>((*random)() % limit); }

int32_t chosen(std::vector<float> scores, const std::vector<int32_t>& history, const Sampling& sampling,
               float* log_probability = nullptr) {
  NextToken next;
  EXPECT_EQ(choose_token(scores.data(), static_cast<uint32_t>(scores.size()), history.data(),
                         static_cast<uint32_t>(history.size()), sampling, &next),
            Status::kOk);
  if (log_probability != nullptr) *log_probability = next.log_probability;
  return next.id;
}

/// Applies transformers' logits processors and then its warpers, in their order.
std::vector<double> probabilities(const std::vector<float>& scores, const std::vector<int32_t>& history,
                                  const Sampling& sampling) {
  std::vector<double> values(scores.begin(), scores.end());
  for (const int32_t id : std::set<int32_t>(history.begin(), history.end())) {
    double& value = values[static_cast<size_t>(id)];
    value = value < 0 ? value * double{sampling.repetition_penalty} : value / double{sampling.repetition_penalty};
  }
  const double out = -INFINITY;
  const size_t n = sampling.no_repeat_ngram;
  for (size_t i = 0; n != 0 && i + n <= history.size(); ++i) {
    const auto last = history.end() - static_cast<std::ptrdiff_t>(n - 1);
    const auto at = history.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::equal(last, history.end(), at)) values[static_cast<size_t>(history[i + n - 1])] = out;
  }
  for (uint32_t i = 0; i < sampling.banned_count; ++i) values[static_cast<size_t>(sampling.banned[i])] = out;
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  if (sampling.top_k != 0) {
    for (size_t i = sampling.top_k; i < order.size(); ++i) values[order[i]] = out;
  }
  std::vector<double> weights;
  for (const double value : values)
    weights.push_back(std::exp((value - values[order[0]]) / double{sampling.temperature}));
  double all = std::accumulate(weights.begin(), weights.end(), 0.0), sum = 0;
  for (const size_t i : order) {
    if (sum >= double{sampling.top_p} * all) weights[i] = 0;
    sum += weights[i];
  }
  for (double& weight : weights) weight = weight < double{sampling.min_p} ? 0 : weight;
  all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= all;
  return weights;
}

/// Returns the token at which the cumulative probability reaches the random number; two tokens if it is within rounding
/// of a boundary.
std::set<int32_t> drawn(const std::vector<double>& weights, double number) {
  std::set<int32_t> tokens;
  for (const double off : {-1e-5, 0.0, 1e-5}) {
    double sum = 0;
    int32_t found = -1;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0) continue;
      sum += weights[i];
      found = static_cast<int32_t>(i);
      if (sum > number + off) break;
    }
    tokens.insert(found);
  }
  return tokens;
}

TEST(Sampling, WithoutATemperatureTheLikeliestAndOfEqualsTheFirst) {
  EXPECT_EQ(chosen({1, 3, 2, 3}, {}, {}), 1);
  EXPECT_EQ(chosen({-5, -1, -1}, {}, {}), 1);
}

TEST(Sampling, IsByChanceAsDefined) {
  std::mt19937 random(1);
  for (uint32_t round = 0; round < 600; ++round) {
    const uint32_t vocabulary = 2 + draw(&random, 70);
    std::vector<float> scores = random_scores(vocabulary, &random);
    if (round % 3 == 0) {
      for (float& score : scores) score = std::round(score);  // makes equal scores
    }
    Sampling sampling;
    sampling.temperature = 0.3F + 0.1F * static_cast<float>(draw(&random, 20));
    // Which of several equal scores at the boundary stay is not defined.
    if (round % 3 != 0) {
      sampling.top_k = draw(&random, vocabulary + 3);
      sampling.top_p = draw(&random, 2) == 0 ? 1.0F : 0.05F + 0.09F * static_cast<float>(draw(&random, 10));
    }
    sampling.min_p = draw(&random, 2) == 0 ? 0.0F : 0.01F * static_cast<float>(draw(&random, 60));
    sampling.repetition_penalty = draw(&random, 2) == 0 ? 1.0F : 1.3F;
    sampling.no_repeat_ngram = draw(&random, 4);
    sampling.seed = random();
    std::vector<int32_t> history(draw(&random, 20));
    for (int32_t& id : history) id = static_cast<int32_t>(draw(&random, std::min(vocabulary, 6U)));
    // So that some token is left.
    if (vocabulary < 8) sampling.no_repeat_ngram = 0;
    const int32_t banned = static_cast<int32_t>(vocabulary) - 1;
    sampling.banned = &banned;
    sampling.banned_count = draw(&random, 2);
    const std::vector<double> expected = probabilities(scores, history, sampling);
    const int32_t id = chosen(scores, history, sampling);
    const double number = double{choice_number(sampling.seed, static_cast<uint32_t>(history.size()))};
    EXPECT_EQ(drawn(expected, number).count(id), 1U) << "round " << round;
  }
}

TEST(Sampling, WithoutATemperatureSettingsChangeScoresToo) {
  Sampling sampling;
  sampling.repetition_penalty = 2;
  EXPECT_EQ(chosen({3, 2, 1}, {0, 0, 0}, sampling), 1);  // 3 / 2, applied once
  EXPECT_EQ(chosen({-3, -2, -2.5F}, {1}, sampling), 2);
  sampling = {};
  sampling.no_repeat_ngram = 2;
  EXPECT_EQ(chosen({1, 5, 2, 0}, {0, 1, 3, 0}, sampling), 2);
  sampling.no_repeat_ngram = 1;
  EXPECT_EQ(chosen({1, 5, 2, 0}, {1, 2}, sampling), 0);
  const int32_t source[] = {3, 0, 1, 2};
  sampling = {};
  sampling.source_ids = source;
  sampling.source_count = 4;
  sampling.source_no_repeat_ngram = 2;
  EXPECT_EQ(chosen({1, 5, 2, 0}, {1, 0}, sampling), 2);  // 0, 1 occurs in the source
  EXPECT_EQ(chosen({1, 5, 2, 0}, {1, 3}, sampling), 1);
  EXPECT_EQ(chosen({1, 5, 2, 0}, {}, sampling), 1);  // no two tokens yet
  sampling.source_no_repeat_ngram = 5;               // the source has no row of five
  EXPECT_EQ(chosen({1, 5, 2, 0}, {3, 0, 1, 2}, sampling), 1);
  sampling.source_no_repeat_ngram = 1;
  sampling.source_count = 3;
  EXPECT_EQ(chosen({1, 5, 2, 0}, {}, sampling), 2);
  const int32_t banned[] = {1, 2, 99, -1};
  sampling = {};
  sampling.banned = banned;
  sampling.banned_count = 4;
  EXPECT_EQ(chosen({1, 5, 2, 0}, {}, sampling), 0);
}

TEST(Sampling, LogProbabilitiesAreThoseOfTheScores) {
  std::mt19937 random(2);
  for (uint32_t round = 0; round < 50; ++round) {
    const std::vector<float> scores = random_scores(300, &random);
    double all = 0;
    for (const float score : scores) all += std::exp(double{score});
    Sampling sampling;
    sampling.temperature = round % 2 == 0 ? 0.0F : 1.7F;
    sampling.repetition_penalty = round % 3 == 0 ? 1.5F : 1.0F;
    sampling.log_probability = true;
    sampling.seed = round;
    const std::vector<int32_t> history = {5, 6, 7, 8};
    float found = 0;
    const int32_t id = chosen(scores, history, sampling, &found);
    EXPECT_NEAR(double{found}, double{scores[static_cast<size_t>(id)]} - std::log(all), 2e-5);
  }
}

TEST(Sampling, NumbersAreSplitMix64s) {
  // The generator's published first outputs for the seed 1234567.
  EXPECT_EQ(choice_number(1234567, 0), static_cast<float>(6457827717110365317U >> 40) * 0x1p-24F);
  EXPECT_EQ(choice_number(1234567, 1), static_cast<float>(3203168211198807973U >> 40) * 0x1p-24F);
  EXPECT_EQ(choice_number(1234567, 4), static_cast<float>(16408922859458223821U >> 40) * 0x1p-24F);
}

TEST(Sampling, SettingsOutOfRangeAreRefused) {
  std::vector<float> scores = {1, 2};
  NextToken next;
  const auto status = [&](const Sampling& sampling) {
    return choose_token(scores.data(), 2, nullptr, 0, sampling, &next);
  };
  EXPECT_EQ(status({}), Status::kOk);
  for (const float bad : {-1.0F, std::nanf(""), INFINITY}) {
    Sampling sampling;
    sampling.temperature = bad;
    EXPECT_EQ(status(sampling), Status::kInvalidArgument);
    sampling = {};
    sampling.top_p = bad;
    EXPECT_EQ(status(sampling), Status::kInvalidArgument);
    sampling = {};
    sampling.min_p = bad;
    EXPECT_EQ(status(sampling), Status::kInvalidArgument);
    sampling = {};
    sampling.repetition_penalty = bad;
    EXPECT_EQ(status(sampling), Status::kInvalidArgument);
  }
  Sampling sampling;
  sampling.top_p = 0;
  EXPECT_EQ(status(sampling), Status::kInvalidArgument);
  EXPECT_EQ(choose_token(nullptr, 2, nullptr, 0, {}, &next), Status::kInvalidArgument);
  EXPECT_EQ(choose_token(scores.data(), 0, nullptr, 0, {}, &next), Status::kInvalidArgument);
  EXPECT_EQ(choose_token(scores.data(), 2, nullptr, 1, {}, &next), Status::kInvalidArgument);
}

}  // namespace
}  // namespace bantam
