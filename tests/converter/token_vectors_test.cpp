// The settings of a file for queries and documents (graph/late_interaction.h), and how well token vectors match.
#include "run/token_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"

namespace bantam::convert {
namespace {

LateInteraction settings() {
  LateInteraction all;
  all.query = {3, "find: \"x\"", 0};
  all.document = {-1, "", 180};
  all.filled = 32;
  all.filler = 7;
  all.skipped = {1, 4, 9};
  return all;
}

TEST(LateInteraction, ComesBackAsItWasWritten) {
  const std::string text = write_late_interaction(settings());
  const LateInteraction read = parse_late_interaction(text, "x.bantam");
  EXPECT_EQ(write_late_interaction(read), text);
  EXPECT_EQ(read.query.marker, 3);
  EXPECT_EQ(read.query.prompt, "find: \"x\"");
  EXPECT_EQ(read.document.max_tokens, 180U);
  EXPECT_EQ(read.skipped, (std::vector<int32_t>{1, 4, 9}));
}

TEST(LateInteraction, DamagedTextsNameFileAndField) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      parse_late_interaction(text, "x.bantam");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused("[").find("x.bantam: property late_interaction"), std::string::npos);
  EXPECT_NE(refused("[]").find("is not an object"), std::string::npos);
  const std::vector<std::pair<const char*, Json>> broken = {{"query", 3},        {"document", Json::object()},
                                                            {"filled", -1},      {"filled", 1e12},
                                                            {"filler", "x"},     {"filler", -1},
                                                            {"skipped", 3},      {"skipped", {4, 1}},
                                                            {"skipped", {4, 4}}, {"skipped", {"[SEP]"}},
                                                            {"skipped", {-1}}};
  for (const auto& [key, value] : broken) {
    Json json = Json::parse(write_late_interaction(settings()));
    json[key] = value;
    EXPECT_NE(refused(json.dump()).find(key), std::string::npos) << key << " = " << value;
    json.erase(key);
    EXPECT_NE(refused(json.dump()).find(key), std::string::npos) << key;
  }
}

TokenVectors random_vectors(uint32_t count, uint32_t width, std::mt19937& random) {
  std::normal_distribution<float> draw;
  TokenVectors vectors;
  vectors.width = width;
  for (uint32_t i = 0; i < count; ++i) {
    vectors.ids.push_back(static_cast<int32_t>(i));
    for (uint32_t k = 0; k < width; ++k) vectors.values.push_back(draw(random));
  }
  return vectors;
}

TEST(TokenVectors, AQueryMatchesItselfBestAndDoublesWithItsTokens) {
  std::mt19937 random(5);
  for (const uint32_t width : {1U, 7U, 128U}) {
    const TokenVectors query = random_vectors(6, width, random);
    double squares = 0;
    for (const float value : query.values) squares += double{value} * double{value};
    EXPECT_GE(double{max_similarity(query, query)}, squares * (1 - 1e-5));
    TokenVectors twice = query;
    twice.ids.insert(twice.ids.end(), query.ids.begin(), query.ids.end());
    twice.values.insert(twice.values.end(), query.values.begin(), query.values.end());
    const TokenVectors document = random_vectors(9, width, random);
    const float once = max_similarity(query, document);
    EXPECT_NEAR(max_similarity(twice, document), 2 * once, 1e-4F * (1 + std::abs(once)));
    EXPECT_EQ(max_similarity(query, TokenVectors()), 0);
    // A token that occurs twice in a document counts once.
    TokenVectors repeated = document;
    repeated.ids.push_back(0);
    repeated.values.insert(repeated.values.end(), document.values.begin(),
                           document.values.begin() + static_cast<std::ptrdiff_t>(width));
    EXPECT_EQ(max_similarity(query, repeated), once);
  }
}

}  // namespace
}  // namespace bantam::convert
