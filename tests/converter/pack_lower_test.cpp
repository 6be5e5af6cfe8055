// Lowering: int8 activations, steps, storage in place.
#include "pack/lower.h"

#include <gtest/gtest.h>

#include <set>

#include "converter/pack_graphs.h"
#include "pack/access.h"
#include "quantize/types.h"

namespace bantam::convert {
namespace {

Graph lowered(fb::DType weights, const testing::Shape& shape = {}) {
  Graph graph = testing::bert_graph(shape);
  TypeOptions types;
  types.weights = weights;
  choose_types(graph, types);
  quantize_activations(graph);
  make_steps(graph);
  share_storage(graph);
  return graph;
}

const fb::OpT& op(const Graph& graph, const std::string& name) {
  for (const auto& candidate : main_subgraph(graph).ops) {
    if (candidate->name == name) return *candidate;
  }
  throw std::out_of_range(name);
}

TEST(Lower, StepsAreLayersPlusHeads) {
  testing::Shape shape;
  shape.layers = 3;
  const Graph graph = lowered(fb::DType::i8, shape);
  const auto& steps = main_subgraph(graph).steps;
  ASSERT_EQ(steps.size(), 5u);  // embeddings, three layers, heads
  uint32_t next = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    EXPECT_EQ(steps[s]->first_op, next);
    next += steps[s]->op_count;
    EXPECT_EQ(steps[s]->rows, s == 4 ? int32_t{kSequences} : int32_t{kTokens});
  }
  EXPECT_EQ(next, main_subgraph(graph).ops.size());
  EXPECT_EQ(main_subgraph(graph).ops[steps[1]->first_op]->name, "layer.0.attention");
  EXPECT_EQ(main_subgraph(graph).ops[steps[4]->first_op]->name, "first");
}

TEST(Lower, ResidualStreamIsOneSharedTensor) {
  for (const fb::DType weights : {fb::DType::f32, fb::DType::i8}) {
    const Graph graph = lowered(weights);
    const int32_t x = op(graph, "embeddings").outputs[0];
    EXPECT_EQ(tensor(graph, x).region, fb::Region::shared);
    for (const char* name : {"layer.0.out", "layer.0.ffn2", "layer.1.out", "layer.1.ffn2"}) {
      EXPECT_EQ(op(graph, name).outputs[0], x) << name;
      EXPECT_EQ(op(graph, name).tail->residual, x) << name;
    }
    EXPECT_EQ(op(graph, "first").inputs[0], x);
  }
}

TEST(Lower, QueriesAreOneTensorKeysAndValuesAreNot) {
  const Graph graph = lowered(fb::DType::i8);
  const fb::OpT& first = op(graph, "layer.0.split");
  const fb::OpT& second = op(graph, "layer.1.split");
  EXPECT_EQ(first.outputs[0], second.outputs[0]);
  // Written while other tiles of the same step still read the old ones.
  EXPECT_NE(first.outputs[1], second.outputs[1]);
  EXPECT_NE(first.outputs[2], second.outputs[2]);
  for (const int32_t output : first.outputs) {
    EXPECT_EQ(tensor(graph, output).type, fb::DType::i8);
    EXPECT_EQ(tensor(graph, output).scale_kind, fb::ScaleKind::per_row_head);
  }
  EXPECT_EQ(tensor(graph, first.outputs[0]).layout, fb::Layout::head_rows);
}

TEST(Lower, Int8LinearsReadInt8AndNobodyWritesUnreadF32) {
  const Graph graph = lowered(fb::DType::i8);
  std::set<int32_t> read;
  for (const auto& any : main_subgraph(graph).ops) {
    for_each_read(*any, [&](int32_t t) { read.insert(t); });
    if (any->attributes.type != fb::OpAttributes::Linear) continue;
    EXPECT_EQ(tensor(graph, any->inputs[0]).type, tensor(graph, any->inputs[1]).type) << any->name;
  }
  EXPECT_EQ(op(graph, "layer.0.attention").outputs[0], -1);
  EXPECT_EQ(op(graph, "layer.0.ffn1").outputs[0], -1);
  for (const auto& any : main_subgraph(graph).ops) {
    for_each_write(*any, [&](int32_t t) {
      EXPECT_TRUE(read.count(t) == 1 || tensor(graph, t).role == fb::Role::output) << tensor(graph, t).name;
    });
  }
  // The classifier has three labels and stays f32.
  EXPECT_EQ(tensor(graph, op(graph, "classifier").inputs[1]).type, fb::DType::f32);
}

TEST(Lower, F32GraphHasNoInt8) {
  const Graph graph = lowered(fb::DType::f32);
  for (const auto& any : graph.model.tensors) EXPECT_EQ(any->type, fb::DType::f32) << any->name;
}

TEST(Lower, AnOutputThatIsReadOnKeepsItsStorage) {
  // The embeddings' rows are an output: no later layer may write over them.
  Graph graph = testing::bert_graph({});
  auto output = std::make_unique<fb::OutputT>();
  output->name = "hidden";
  output->tensor = op(graph, "embeddings").outputs[0];
  tensor(graph, output->tensor).role = fb::Role::output;
  graph.model.outputs.push_back(std::move(output));
  quantize_activations(graph);
  make_steps(graph);
  share_storage(graph);
  const int32_t hidden = op(graph, "embeddings").outputs[0];
  EXPECT_EQ(tensor(graph, hidden).role, fb::Role::output);
  EXPECT_NE(op(graph, "layer.0.out").outputs[0], hidden);
}

}  // namespace
}  // namespace bantam::convert
