// Conditional random fields: graphs of scores and transitions against evaluate's definition, and invalid ones, which
// are refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "bantam/model.h"
#include "golden/evaluate.h"
#include "graph/builder.h"
#include "pack/build.h"
#include "run/runner.h"

namespace bantam::golden::crf_test {
namespace {

using convert::Builder;
using convert::Values;

constexpr uint32_t kVocabulary = 70, kLongest = 60;

struct Chain {
  uint32_t tags, skip_first, skip_last;
  bool members;
};

Values random_values(std::mt19937& random, size_t count, float deviation) {
  std::normal_distribution<float> normal(0, deviation);
  Values out;
  for (size_t i = 0; i < count; ++i) out.values.push_back(normal(random));
  return out;
}

convert::Graph make(std::mt19937& random, const Chain& chain) {
  convert::Graph graph;
  Builder build(graph);
  build.input("input_ids", fb::InputKind::ids, kVocabulary);
  const int32_t words =
      build.embedding("words", kVocabulary, chain.tags, random_values(random, kVocabulary * chain.tags, 2.0F));
  const int32_t scores = build.embed("scores", {{words, fb::IndexSource::ids}}, {});
  const int32_t transitions = build.table("transitions", chain.tags + 2, chain.tags,
                                          random_values(random, (chain.tags + 2) * chain.tags, 2.0F));
  int32_t members = convert::kAbsent;
  if (chain.members) {
    fb::TensorT tensor;
    tensor.name = "members";
    tensor.type = fb::DType::i32;
    tensor.shape = {fb::Dim(-1, 0, (kVocabulary + 31) / 32, 1)};
    members = convert::add_tensor(graph, std::move(tensor));
    auto constant = std::make_shared<convert::Constant>();
    for (uint32_t i = 0; i < (kVocabulary + 31) / 32; ++i) constant->numbers.push_back(static_cast<int32_t>(random()));
    graph.constants[static_cast<size_t>(members)] = std::move(constant);
  }
  const int32_t best = build.crf("crf", scores, transitions, members, chain.skip_first, chain.skip_last);
  build.output("logits", fb::OutputRole::none, best);
  graph.model.max_sequence = kLongest;
  return graph;
}

TEST(Crf, RowsAreBestChainsByDefinition) {
  std::mt19937 random(7);
  for (const Chain& chain : {Chain{1, 0, 0, false}, Chain{2, 0, 0, false}, Chain{5, 1, 1, false}, Chain{9, 0, 0, true},
                             Chain{17, 1, 0, true}, Chain{40, 0, 2, false}}) {
    SCOPED_TRACE(::testing::Message() << chain.tags << " tags, " << chain.skip_first << " and " << chain.skip_last
                                      << " skipped, " << chain.members);
    const convert::Graph graph = make(random, chain);
    convert::TypeOptions types;
    types.weights = fb::DType::f32;
    const convert::FileBytes file = convert::build(convert::clone(graph), types);
    convert::Runner runner(file, kLongest);
    for (const uint32_t length : {1U, 2U, 3U, 16U, 33U, kLongest}) {
      convert::Sample sample;
      for (uint32_t i = 0; i < length; ++i) sample.ids.push_back(static_cast<int32_t>(random() % kVocabulary));
      const Matrix expected = evaluate(graph, sample.ids, {}).at("logits");
      const auto outputs = runner.run(sample);
      ASSERT_EQ(outputs.front().values.size(), expected.values.size());
      for (size_t i = 0; i < expected.values.size(); ++i) {
        EXPECT_NEAR(double{outputs.front().values[i]}, expected.values[i], 5e-5) << "element " << i;
      }
    }
  }
}

/// If two chains have equal scores, all rows refer to the same one.
TEST(Crf, ATieGoesToOneChain) {
  convert::Graph graph;
  Builder build(graph);
  build.input("input_ids", fb::InputKind::ids, 4);
  const auto values = [](std::vector<float> numbers) {
    Values out;
    out.values = std::move(numbers);
    return out;
  };
  const int32_t words = build.embedding("words", 4, 2, values({0, 0, 0, 0, 0, 0, 0, 0}));
  const int32_t scores = build.embed("scores", {{words, fb::IndexSource::ids}}, {});
  // Keeping a tag costs 5.
  const int32_t transitions = build.table("transitions", 4, 2, values({0, 0, 0, 0, -5, 0, 0, -5}));
  build.output("logits", fb::OutputRole::none, build.crf("crf", scores, transitions, convert::kAbsent, 0, 0));
  graph.model.max_sequence = 8;
  convert::TypeOptions types;
  types.weights = fb::DType::f32;
  const convert::FileBytes file = convert::build(convert::clone(graph), types);
  convert::Runner runner(file, 8);
  convert::Sample sample;
  sample.ids = {0, 1, 2, 3, 0};
  const auto outputs = runner.run(sample);
  const std::vector<float>& rows = outputs.front().values;
  for (size_t row = 0; row < 5; ++row) {
    EXPECT_EQ(rows[row * 2] == 0, rows[row * 2 + 1] != 0) << row;
    if (row == 0) continue;
    EXPECT_NE(rows[row * 2] == 0, rows[row * 2 - 2] == 0) << row;
  }
}

}  // namespace
}  // namespace bantam::golden::crf_test
