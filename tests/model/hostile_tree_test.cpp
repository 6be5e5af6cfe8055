// hostile_test.cpp for trees of columns.
#include <gtest/gtest.h>

#include "tests/model/hostile.h"

namespace bantam::testing::hostile_tree_test {
namespace {

constexpr uint32_t kIds = 9, kInner = 3;

ModelBuilder tree_model() {
  ModelBuilder b;
  b.model.inputs.push_back(std::make_unique<fb::InputT>());
  b.model.inputs[0]->name = "input_ids";
  b.model.inputs[0]->limit = kIds;
  const int32_t words =
      b.table("words", kIds, 2 * kInner, std::vector<float>(kIds * 2 * kInner, 0.5F), WeightType::kF32);
  b.step(0);
  const int32_t x = b.activation("x", 0, 2 * kInner);
  fb::EmbedT one;
  one.tables.push_back(std::make_unique<fb::EmbedTableT>());
  fb::OpT& op = b.op("embed", attributes(one), {}, {x});
  op.attributes.AsEmbed()->tables[0]->tensor = name_input(op, words);
  b.step(0);
  const int32_t nodes = b.vector("nodes", std::vector<float>(2 * kInner));
  b.model.tensors[static_cast<size_t>(nodes)]->type = fb::DType::i32;
  const int32_t y = b.output("y", 0, kInner + 1);
  b.op("tree", attributes(fb::TreeT{}), {x, nodes}, {y});
  return b;
}

fb::OpT& tree(fb::ModelT& m) { return *m.subgraphs[0]->ops[1]; }
fb::TensorT& named(fb::ModelT& m, int32_t index) { return *m.tensors[static_cast<size_t>(index)]; }

const OpEdit kEdits[] = {
    {"factors absent", [](auto& m) { tree(m).inputs[0] = -1; }},
    {"nodes absent", [](auto& m) { tree(m).inputs[1] = -1; }},
    {"factors that are a constant", [](auto& m) { tree(m).inputs[0] = tree(m).inputs[1]; }},
    {"nodes that are not a constant", [](auto& m) { tree(m).inputs[1] = tree(m).inputs[0]; }},
    {"nodes of another type", [](auto& m) { named(m, tree(m).inputs[1]).type = fb::DType::f32; }},
    {"too few nodes", [](auto& m) { named(m, tree(m).inputs[1]).shape[0] = fb::Dim(-1, 0, 4, 1); }},
    {"an epilogue", [](auto& m) { tree(m).epilogue = std::make_unique<fb::EpilogueT>(); }},
    {"no output", [](auto& m) { tree(m).outputs[0] = -1; }},
    {"two outputs", [](auto& m) { tree(m).outputs.push_back(tree(m).outputs[0]); }},
    {"another width", [](auto& m) { named(m, tree(m).outputs[0]).shape[1] = fb::Dim(-1, 0, kInner, 1); }},
    {"an input too many", [](auto& m) { tree(m).inputs.push_back(tree(m).inputs[0]); }},
};

TEST(HostileTree, IsRefusedWithAReason) { expect_refused(kEdits, tree_model); }

TEST(HostileTree, WritesFloatsInRows) {
  const char* const sentence = "a tree writes f32 rows of a column more than it has inner nodes";
  const auto output = [](ModelBuilder& b) -> fb::TensorT& { return named(b.model, tree(b.model).outputs[0]); };
  expect_sentences(
      {
          {sentence,
           [&](auto& b) {
             output(b).type = fb::DType::i8;
             output(b).scale_kind = fb::ScaleKind::per_row;
           }},
          {sentence,
           [&](auto& b) {
             output(b).layout = fb::Layout::key_pages;
             output(b).heads = 1;
           }},
      },
      tree_model);
}

}  // namespace
}  // namespace bantam::testing::hostile_tree_test
