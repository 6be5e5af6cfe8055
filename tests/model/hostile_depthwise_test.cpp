// hostile_test.cpp for depthwise convolutions.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_depthwise_test {
namespace {

constexpr uint32_t kIds = 9, kWidth = 21, kPadded = 32, kBefore = 2, kAfter = 1, kTaps = kBefore + 1 + kAfter;

ModelBuilder depthwise_model() {
  ModelBuilder b;
  const int32_t weights =
      b.table("weights", kTaps, kPadded, std::vector<float>(kTaps * kPadded, 0.25F), WeightType::kF32);
  const int32_t x = embedded_ids(b, kIds, kWidth);
  b.step(0);
  const int32_t y = b.output("y", 0, kWidth);
  fb::DepthwiseT convolution;
  convolution.before = kBefore;
  convolution.after = kAfter;
  b.op("depthwise", attributes(convolution), {x, weights}, {y});
  return b;
}

fb::OpT& depthwise(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::DepthwiseT& attributes_of(fb::ModelT& m) { return *depthwise(m).attributes.AsDepthwise(); }
fb::TensorT& named(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }
fb::TensorT& read(fb::ModelT& m) { return named(m, depthwise(m).inputs[0]); }
fb::TensorT& weights(fb::ModelT& m) { return named(m, depthwise(m).inputs[1]); }
fb::TensorT& written(fb::ModelT& m) { return named(m, depthwise(m).outputs[0]); }

const OpEdit kEdits[] = {
    {"rows absent", [](auto& m) { depthwise(m).inputs[0] = -1; }},
    {"rows that are a constant", [](auto& m) { depthwise(m).inputs[0] = m.subgraphs[0]->ops[0]->inputs[0]; }},
    {"rows as i8", [](auto& m) { read(m).type = fb::DType::i8; }},
    {"rows of a tile", [](auto& m) { read(m).region = fb::Region::tile; }},
    {"rows of sequences", [](auto& m) { read(m).shape[0] = fb::Dim(1, 1, 0, 1); }},
    {"rows that the same step writes",
     [](auto& m) {
       auto& steps = m.subgraphs[0]->steps;
       steps[0]->op_count += steps[1]->op_count;
       steps.pop_back();
     }},
    {"weights absent", [](auto& m) { depthwise(m).inputs[1] = -1; }},
    {"weights that are not a constant", [](auto& m) { depthwise(m).inputs[1] = depthwise(m).inputs[0]; }},
    {"weights of another table", [](auto& m) { depthwise(m).inputs[1] = m.subgraphs[0]->ops[0]->inputs[0]; }},
    {"weights as i32", [](auto& m) { weights(m).type = fb::DType::i32; }},
    {"weights in tiles", [](auto& m) { weights(m).layout = fb::Layout::tile_n16; }},
    {"weights of one extent", [](auto& m) { weights(m).shape = {fb::Dim(-1, 0, kTaps * kPadded, 1)}; }},
    {"weights without room behind columns", [](auto& m) { weights(m).shape[1] = fb::Dim(-1, 0, kWidth, 1); }},
    {"weights of a neighbour less", [](auto& m) { weights(m).shape[0] = fb::Dim(-1, 0, kTaps - 1, 1); }},
    {"a neighbour more in front", [](auto& m) { attributes_of(m).before = kBefore + 1; }},
    {"a neighbour less behind", [](auto& m) { attributes_of(m).after = 0; }},
    {"neighbours whose count wraps",
     [](auto& m) {
       attributes_of(m).before = UINT32_MAX;
       attributes_of(m).after = kTaps;
     }},
    {"latest rows with some behind", [](auto& m) { attributes_of(m).latest = true; }},
    {"latest rows with weights of each token's own",
     [](auto& m) {
       attributes_of(m).latest = true;
       attributes_of(m).after = 0;
       attributes_of(m).heads = 1;
     }},
    {"latest rows without any in front",
     [](auto& m) {
       attributes_of(m).before = attributes_of(m).after = 0;
       attributes_of(m).latest = true;
       weights(m).shape[0] = fb::Dim(-1, 0, 1, 1);
     }},
    {"an output too narrow", [](auto& m) { written(m).shape[1] = fb::Dim(-1, 0, kWidth - 1, 1); }},
    {"an output over its input", [](auto& m) { depthwise(m).outputs[0] = depthwise(m).inputs[0]; }},
    {"no output", [](auto& m) { depthwise(m).outputs[0] = -1; }},
    {"an input too many", [](auto& m) { depthwise(m).inputs.push_back(depthwise(m).inputs[0]); }},
};

TEST(HostileDepthwise, IsRefusedWithAReason) { expect_refused(kEdits, depthwise_model); }

constexpr uint32_t kHeads = 3;

/// The same with weights that each token makes of scores of its own.
ModelBuilder model_of_scores() {
  ModelBuilder b = depthwise_model();
  fb::ModelT& m = b.model;
  attributes_of(m).heads = kHeads;
  const int32_t table =
      b.table("scores", kIds, kHeads * kTaps, std::vector<float>(kIds * kHeads * kTaps, 0.5F), WeightType::kF32);
  const int32_t scores = b.activation("some scores", 0, kHeads * kTaps);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  auto embed = std::make_unique<fb::OpT>();
  embed->name = "scores";
  embed->attributes = attributes(one);
  embed->outputs = {scores};
  embed->attributes.AsEmbed()->tables[0]->tensor = name_input(*embed, table);
  auto& ops = m.subgraphs[0]->ops;
  ops.insert(ops.begin() + 1, std::move(embed));
  auto& steps = m.subgraphs[0]->steps;
  steps[0]->op_count = 2;
  steps[1]->first_op = 2;
  ops[2]->inputs[1] = scores;
  return b;
}

fb::OpT& of_scores(fb::ModelT& m) { return *m.subgraphs[0]->ops[2]; }
fb::DepthwiseT& own(fb::ModelT& m) { return *of_scores(m).attributes.AsDepthwise(); }
fb::TensorT& scores_of(fb::ModelT& m) { return named(m, of_scores(m).inputs[1]); }

const OpEdit kEditsOfScores[] = {
    {"scores absent", [](auto& m) { of_scores(m).inputs[1] = -1; }},
    {"scores that are a constant", [](auto& m) { of_scores(m).inputs[1] = m.subgraphs[0]->ops[0]->inputs[0]; }},
    {"scores as i8", [](auto& m) { as_i8(scores_of(m)); }},
    {"scores of sequences", [](auto& m) { as_rows_of_sequences(scores_of(m)); }},
    {"scores of a head less", [](auto& m) { own(m).heads = kHeads - 1; }},
    {"heads that do not divide columns", [](auto& m) { own(m).heads = 4; }},
    {"a head a column", [](auto& m) { own(m).heads = kWidth; }},
    {"more heads than columns", [](auto& m) { own(m).heads = UINT32_MAX; }},
    {"constant weights", [](auto& m) { own(m).heads = 0; }},
    {"a neighbour more in front", [](auto& m) { own(m).before = kBefore + 1; }},
    {"a neighbour less behind", [](auto& m) { own(m).after = 0; }},
    {"neighbours beyond all",
     [](auto& m) {
       own(m).before = UINT32_MAX;
       own(m).after = kTaps;
     },
     Status::kUnsupported},
    {"rows of a tile", [](auto& m) { named(m, of_scores(m).inputs[0]).region = fb::Region::tile; }},
    {"an output too narrow",
     [](auto& m) { named(m, of_scores(m).outputs[0]).shape[1] = fb::Dim(-1, 0, kWidth - 1, 1); }},
};

TEST(HostileDepthwise, OfScoresIsRefusedWithAReason) { expect_refused(kEditsOfScores, model_of_scores); }

TEST(HostileDepthwise, OfScoresIsRefusedByItsSentences) {
  expect_rules_of_op(
      "depthwise",
      {{"the heads of a convolution do not divide its columns", Status::kCorrupt, [](auto& m) { own(m).heads = 2; }},
       {"a convolution has too many scores", Status::kUnsupported, [](auto& m) { own(m).after = ops::kMaxWidth; }},
       {"a convolution has too many scores", Status::kUnsupported, [](auto& m) { own(m).after = ops::kMaxWidth / 2; }}},
      model_of_scores);
}

}  // namespace
}  // namespace bantam::testing::hostile_depthwise_test
