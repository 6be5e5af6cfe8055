// Properties of attention for long texts that model directories do not specify: tokens marked by the caller, and
// randomly drawn blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <vector>

#include "golden/expected.h"
#include "golden/same_bits.h"
#include "golden/tiny.h"
#include "network/blocks/long_attention.h"

namespace bantam::golden::long_texts_test {
namespace {

constexpr uint32_t kLongest = 80;

std::vector<convert::Sample> long_samples(bool marks) {
  std::vector<convert::Sample> all;
  std::mt19937 random(11);
  for (const uint32_t length : {1U, 16U, 31U, 47U, kLongest}) {
    convert::Sample sample;
    for (uint32_t i = 0; i < length; ++i) {
      sample.ids.push_back(static_cast<int32_t>(5 + random() % 56));
      if (marks) sample.marks.push_back(random() % 7 == 0 ? 1 : 0);
    }
    all.push_back(std::move(sample));
  }
  return all;
}

void expect_agreement(const convert::Graph& graph, bool marks) {
  EXPECT_LE(compare(graph, fb::DType::f32, long_samples(marks)).largest, kLargestDifference);
  EXPECT_GE(compare(graph, fb::DType::i8, long_samples(marks)).cosine(), kSmallestCosine);
}

testing::Ids batch_of(const std::vector<convert::Sample>& samples) {
  testing::Ids all;
  for (const convert::Sample& sample : samples) {
    all.ids.insert(all.ids.end(), sample.ids.begin(), sample.ids.end());
    all.marks.insert(all.marks.end(), sample.marks.begin(), sample.marks.end());
    all.offsets.push_back(static_cast<uint32_t>(all.ids.size()));
  }
  return all;
}

TEST(LongTexts, MarkedTokensAreGlobal) {
  for (const char* model : {"longformer-encoder", "longformer-dilated"}) {
    convert::ImportOptions options;
    options.globals = "marked";
    const convert::Graph graph = convert::import_hugging_face(model_directory(model), options);
    expect_agreement(graph, true);
    for (const fb::DType type : {fb::DType::f32, fb::DType::i8}) {
      convert::TypeOptions types;
      types.weights = type;
      expect_same_bits(convert::build(graph, types), batch_of(long_samples(true)));
    }
  }
}

/// LED's sources, as transformers computes them with a global_attention_mask of the first token.
TEST(LongTexts, FirstTokensOfSourcesAreGlobal) {
  convert::ImportOptions options;
  options.globals = "first";
  const convert::Graph graph = convert::import_hugging_face(model_directory("led-generate"), options);
  convert::TypeOptions types;
  types.weights = fb::DType::f32;
  const convert::FileBytes bytes = convert::build(graph, types);
  convert::Runner runner(bytes, graph.model.max_sequence);
  std::vector<convert::Sample> samples;
  for (const Case& one : read_expected(model_directory("led-generate") / "globals.jsonl")) {
    convert::Sample& sample = samples.emplace_back();
    sample.ids = one.ids;
    sample.decoder_ids = one.decoder_ids;
    for (const convert::OutputRows& output : runner.run(sample)) {
      const std::vector<double>& expected = one.outputs.at(output.name);
      ASSERT_EQ(output.values.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(static_cast<double>(output.values[i]), expected[i], kLargestDifference);
    }
  }
  EXPECT_LE(compare(graph, fb::DType::f32, samples).largest, kLargestDifference);
  EXPECT_GE(compare(graph, fb::DType::i8, samples).cosine(), kSmallestCosine);
}

TEST(LongTexts, RandomBlocksOfEachHeadAreSeen) {
  for (const char* model : {"big-bird-tag", "big-bird-classify"}) {
    convert::ImportOptions options;
    options.random_blocks = 5;
    const convert::Graph graph = convert::import_hugging_face(model_directory(model), options);
    expect_agreement(graph, false);
    expect_same_bits(convert::build(graph), batch_of(long_samples(false)));
  }
}

/// Random blocks are within the blocks that all long enough texts have, exclude those that are always visible, and are
/// distinct.
TEST(LongTexts, BlocksAreDrawnAsTransformersDrawsThem) {
  constexpr uint32_t kHeads = 5, kBlocks = 40;
  for (uint32_t random = 1; random <= 15; ++random) {
    const std::vector<int32_t> list = convert::draw_blocks(random, kHeads, kBlocks, random);
    ASSERT_EQ(list.size(), size_t{kHeads} * kBlocks * random);
    EXPECT_NE(list, convert::draw_blocks(random + 1, kHeads, kBlocks, random));
    std::set<std::vector<int32_t>> rows;
    for (size_t row = 0; row < size_t{kHeads} * kBlocks; ++row) {
      const auto first = list.begin() + static_cast<std::ptrdiff_t>(row * random);
      const std::vector<int32_t> drawn(first, first + random);
      EXPECT_EQ(std::set<int32_t>(drawn.begin(), drawn.end()).size(), random);
      const auto own = static_cast<int32_t>(row % kBlocks);
      for (const int32_t block : drawn) {
        EXPECT_GE(block, 1);
        EXPECT_LE(block, static_cast<int32_t>(2 * random + 3));
        EXPECT_GT(std::abs(block - own), 1);
      }
      rows.insert(drawn);
    }
    EXPECT_GE(rows.size(), 5U);  // as many as one of five can be
  }
}

TEST(LongTexts, OptionsOfOtherFamiliesAreRefused) {
  convert::ImportOptions globals, marked, random;
  globals.globals = "first";
  marked.globals = "marked";
  random.random_blocks = 0;
  for (const auto& [model, options] :
       {std::pair("big-bird-tag", globals), std::pair("longformer-tag", random), std::pair("t5-encoder", globals),
        std::pair("t5-encoder", random), std::pair("led-generate", marked), std::pair("bart-generate", globals)}) {
    try {
      convert::import_hugging_face(model_directory(model), options);
      ADD_FAILURE() << model << " was not refused";
    } catch (const convert::Error& error) {
      EXPECT_EQ(error.code(), convert::ExitCode::kUsage) << error.what();
    }
  }
}

}  // namespace
}  // namespace bantam::golden::long_texts_test
