// The nearest vectors compared with all products in double precision, every instruction set with the reference, and
// damaged indexes.
#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "search/hits.h"
#include "tests/converter/search_fixture.h"

namespace bantam::convert {
namespace {

using test::OpenedIndex;
using test::random_vector;

struct Collection {
  std::vector<std::vector<float>> vectors;
  std::vector<uint8_t> bytes;
};

Collection make(uint32_t seed, uint32_t count, uint32_t width, bool compact) {
  std::mt19937 random(seed);
  IndexContents contents = {"0123", "a.bantam", width, compact, {}};
  Collection made;
  for (uint32_t i = 0; i < count; ++i) {
    made.vectors.push_back(random_vector(random, width));
    contents.append(round_vector("text " + std::to_string(i), made.vectors.back(), compact));
  }
  made.bytes = index_bytes(contents);
  return made;
}

double cosine_of(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Search, FindsTheNearestOfAll) {
  struct Shape {
    uint32_t count, width, top;
  };
  for (const Shape s : {Shape{5000, 384, 10}, Shape{100, 37, 10}, Shape{17, 1, 3}, Shape{3, 130, 10}, Shape{1, 8, 1}}) {
    for (const bool compact : {false, true}) {
      const Collection made = make(s.count, s.count, s.width, compact);
      const OpenedIndex index(made.bytes);
      std::mt19937 random(7);
      size_t agree = 0, wanted = 0;
      for (int q = 0; q < 20; ++q) {
        const std::vector<float> query = random_vector(random, s.width);
        std::vector<double> exact;
        for (const auto& vector : made.vectors) exact.push_back(cosine_of(query, vector));
        std::vector<double> best = exact;
        std::sort(best.begin(), best.end(), std::greater<>());
        const std::vector<Found> found = find_nearest(*index, query, s.top);
        ASSERT_EQ(found.size(), std::min(s.top, s.count));
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_NEAR(double{found[i].score}, exact[found[i].entry], compact ? 2e-2 : 5e-5);
          EXPECT_GE(found[i == 0 ? 0 : i - 1].score, found[i].score);
          agree += exact[found[i].entry] >= best[found.size() - 1] ? 1U : 0U;
        }
        wanted += found.size();
      }
      EXPECT_GE(static_cast<double>(agree), (compact ? 0.95 : 0.99) * static_cast<double>(wanted))
          << s.count << " " << s.width << " " << compact;
    }
  }
}

TEST(Search, EveryInstructionSetFindsTheSame) {
  const Collection made = make(3, 3000, 96, false);
  const OpenedIndex index(made.bytes);
  std::mt19937 random(1);
  const std::vector<float> query = random_vector(random, 96);
  const std::vector<Found> expected = find_nearest(*index, query, 25, Isa::kReference);
  int others = 0;
  for (uint8_t i = 0; i < 32; ++i) {
    const Isa isa = static_cast<Isa>(i);
    if (!isa_available(isa)) continue;
    ++others;
    const std::vector<Found> found = find_nearest(*index, query, 25, isa);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t j = 0; j < found.size(); ++j) {
      EXPECT_EQ(found[j].entry, expected[j].entry) << isa_name(isa);
      EXPECT_EQ(found[j].score, expected[j].score) << isa_name(isa);
    }
  }
  EXPECT_GE(others, 2);
}

TEST(Search, ProductsKeepLengths) {
  std::mt19937 random(11);
  IndexContents contents = {"0123", "a.bantam", 24, false, {}};
  std::vector<std::vector<float>> vectors;
  for (uint32_t i = 0; i < 200; ++i) {
    vectors.push_back(random_vector(random, 24));
    for (float& v : vectors.back()) v *= 0.1F * static_cast<float>(1 + i % 17);
    contents.append(round_vector("text", vectors.back(), false, Length::kKept));
  }
  const OpenedIndex index(index_bytes(contents));
  const std::vector<float> query = random_vector(random, 24);
  std::vector<std::pair<double, uint32_t>> products;
  for (uint32_t i = 0; i < 200; ++i) {
    double sum = 0;
    for (size_t c = 0; c < 24; ++c) sum += double{vectors[i][c]} * double{query[c]};
    products.emplace_back(-sum, i);
  }
  std::sort(products.begin(), products.end());
  const std::vector<Found> found = find_nearest(*index, query, 10, Isa::kAuto, Length::kKept);
  ASSERT_EQ(found.size(), 10u);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].entry, products[i].second);
    EXPECT_NEAR(found[i].score, -products[i].first, 1e-2);
  }
}

TEST(Search, TakesEmptyIndexesAndVectorsOfZeros) {
  const OpenedIndex none(index_bytes({"0", "a", 4, false, {}}));
  EXPECT_TRUE(find_nearest(*none, {1, 0, 0, 0}, 5).empty());
  IndexContents zero = {"0", "a", 4, false, {}};
  zero.append(round_vector("zero", {0, 0, 0, 0}, false));
  const OpenedIndex one(index_bytes(zero));
  const std::vector<Found> found = find_nearest(*one, {0, 0, 0, 0}, 5);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].score, 0.0F);
  EXPECT_EQ((*one).text(0), "zero");
  EXPECT_THROW(round_vector("bad", {1, std::numeric_limits<float>::quiet_NaN()}, false), Error);
  EXPECT_THROW(round_vector("bad", {1, std::numeric_limits<float>::infinity()}, false), Error);
}

TEST(Search, ReadsBackWhatWasWritten) {
  for (const bool compact : {false, true}) {
    const Collection made = make(9, 21, 13, compact);
    const OpenedIndex index(made.bytes);
    EXPECT_EQ((*index).text(20), "text 20");
    EXPECT_EQ(index_bytes((*index).contents()), made.bytes);
  }
}

/// Texts of random terms; one in three is empty.
IndexContents some_terms(uint32_t seed, uint32_t count, uint32_t width) {
  std::mt19937 random(seed);
  IndexContents contents = {"0123", "a.bantam", width, false, {}, true};
  for (uint32_t i = 0; i < count; ++i) {
    IndexedText entry;
    entry.text = "text " + std::to_string(i);
    for (uint32_t term = 0; term < width && i % 3 != 2; ++term) {
      if (random() % 4 != 0) continue;
      entry.terms.push_back({static_cast<int32_t>(term), 0.1F + static_cast<float>(random() % 100)});
    }
    contents.append(std::move(entry));
  }
  return contents;
}

TEST(SearchTerms, FindsTheLargestSumsOfProducts) {
  const IndexContents contents = some_terms(3, 40, 30);
  const OpenedIndex index(index_bytes(contents));
  EXPECT_TRUE((*index).of_terms());
  EXPECT_FALSE((*index).compact());
  EXPECT_EQ(index_bytes((*index).contents()), index_bytes(contents));
  const std::vector<bantam::Candidate> query = {
      {1, 0.3F}, {7, 2.0F}, {11, 0.25F}, {29, 1.5F}, {30, 9.0F}};  // 30: in no text
  std::vector<Found> wanted;
  for (uint32_t i = 0; i < 40; ++i) {
    double sum = 0;
    for (const bantam::Candidate& asked : query) {
      for (const bantam::Candidate& term : contents.records[i].texts[0].terms)
        sum += term.id == asked.id ? double{term.score} * double{asked.score} : 0;
    }
    if (sum > 0) wanted.push_back({i, static_cast<float>(sum)});
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
  ASSERT_GT(wanted.size(), 10U);
  for (const uint32_t top : {1U, 5U, 100U}) {
    const std::vector<Found> found = find_by_terms(*index, query, top);
    ASSERT_EQ(found.size(), std::min<size_t>(top, wanted.size()));
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].entry, wanted[i].entry);
      EXPECT_EQ(found[i].score, wanted[i].score);
    }
  }
  EXPECT_TRUE(find_by_terms(*index, {}, 5).empty());
}

/// Returns the results of a query that matches everything.
std::vector<Found> find_any(const SearchIndex& index) {
  if (!index.of_terms()) return find_nearest(index, std::vector<float>(index.width(), 1.0F), 50);
  std::vector<bantam::Candidate> query;
  for (int32_t term = 0; term < 12; ++term) query.push_back({term, 1.0F});
  return find_by_terms(index, query, 50);
}

/// Vectors, terms, and records with ids, fields and chunks.
class SearchHostile : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(VectorsTermsAndRecords, SearchHostile, ::testing::Range(0, 3));

TEST_P(SearchHostile, DamagedIndexesAreRefusedOrHarmless) {
  Collection made = make(5, 19, 10, false);
  if (GetParam() == 1) made.bytes = index_bytes(some_terms(5, 19, 10));
  if (GetParam() == 2) made.bytes = index_bytes(test::some_records(5, 7, 10));
  size_t refused = 0;
  const auto attempt = [&](const std::vector<uint8_t>& bytes) {
    try {
      const OpenedIndex index(bytes);
      const std::vector<Found> found = find_any(*index);
      for (const Found& one : found) EXPECT_LE((*index).text(one.entry).size(), bytes.size());
      EXPECT_FALSE(hits_json(*index, "an index", "query", found).empty());
      EXPECT_EQ((*index).contents().records.size(), (*index).records());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kInvalid);
      ++refused;
    }
  };
  for (size_t size = 0; size < made.bytes.size(); ++size) {
    attempt({made.bytes.begin(), made.bytes.begin() + static_cast<ptrdiff_t>(size)});
  }
  EXPECT_EQ(refused, made.bytes.size());
  refused = 0;
  for (size_t at = 0; at < made.bytes.size(); ++at) {
    for (const uint32_t flip : {0x01U, 0x80U, 0xffU}) {
      std::vector<uint8_t> bytes = made.bytes;
      bytes[at] = static_cast<uint8_t>(bytes[at] ^ flip);
      attempt(bytes);
    }
  }
  EXPECT_GT(refused, 50U);
}

}  // namespace
}  // namespace bantam::convert
