// Lowering: int8 activations, steps, storage in place.
#include "pack/lower.h"

#include <gtest/gtest.h>

#include <set>

#include "converter/pack_graphs.h"
#include "graph/access.h"
#include "quantize/types.h"

namespace bantam::convert {
namespace {

Graph lowered(fb::DType weights, const fixture::Shape& shape = {}, Plan plan = Plan::kFast,
              fb::DType residual = fb::DType::f32) {
  Graph graph = fixture::bert_graph(shape);
  TypeOptions types;
  types.weights = weights;
  choose_types(graph, types);
  if (plan == Plan::kSmall) split_queries(graph);
  quantize_activations(graph, residual);
  make_steps(graph, plan == Plan::kSmall);
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
  fixture::Shape shape;
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

TEST(Lower, ASmallPlanHasTwoStepsForEachLayer) {
  fixture::Shape shape;
  shape.layers = 3;
  shape.tags = 70;
  const Graph graph = lowered(fb::DType::i8, shape, Plan::kSmall);
  const auto& steps = main_subgraph(graph).steps;
  // The names of the ops that begin steps; the first layer's keys are computed together with the embeddings.
  const std::vector<std::string> firsts = {
      "embeddings", "layer.0.query", "layer.1.key_value", "layer.1.query", "layer.2.key_value", "layer.2.query",
      "tagger",     "first"};
  ASSERT_EQ(steps.size(), firsts.size());
  uint32_t next = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    EXPECT_EQ(steps[s]->first_op, next);
    next += steps[s]->op_count;
    EXPECT_EQ(steps[s]->rows, s + 1 == steps.size() ? int32_t{kSequences} : int32_t{kTokens});
    EXPECT_EQ(main_subgraph(graph).ops[steps[s]->first_op]->name, firsts[s]);
  }
  EXPECT_EQ(next, main_subgraph(graph).ops.size());
}

TEST(Lower, TheTwoHalvesOfALayerHoldItsWeights) {
  Graph graph = fixture::bert_graph({});
  const fb::OpT whole(op(graph, "layer.1.qkv"));
  const std::vector<float> values = graph.constants[static_cast<size_t>(whole.inputs[1])]->values;
  split_queries(graph);
  const fb::OpT& query = op(graph, "layer.1.query");
  const fb::OpT& key_value = op(graph, "layer.1.key_value");
  EXPECT_EQ(tensor(graph, query.inputs[1]).name, "layer.1.query.weight");
  EXPECT_EQ(rows(tensor(graph, query.inputs[1])), 40u);
  EXPECT_EQ(rows(tensor(graph, key_value.inputs[1])), 80u);
  EXPECT_EQ(width(tensor(graph, key_value.inputs[2])), 80u);
  std::vector<float> both = graph.constants[static_cast<size_t>(query.inputs[1])]->values;
  const std::vector<float>& rest = graph.constants[static_cast<size_t>(key_value.inputs[1])]->values;
  both.insert(both.end(), rest.begin(), rest.end());
  EXPECT_EQ(both, values);
  for (const auto& any : graph.model.tensors) EXPECT_NE(any->name, "layer.1.qkv.weight");
}

/// Checks the rows that each op after the last layer's attention writes, and those of the layer before.
TEST(Lower, OfAPooledTokensLayersOnlyItsRowIsComputed) {
  Graph graph = fixture::bert_graph({});
  pool_early(graph);
  const auto rows_of = [&](const char* name) {
    return tensor(graph, op(graph, name).outputs[0]).shape.front().symbol();
  };
  for (const char* name : {"layer.1.out", "layer.1.ffn1", "layer.1.ffn2", "pooler"}) {
    EXPECT_EQ(rows_of(name), kSequences) << name;
  }
  for (const char* name : {"layer.0.ffn2", "layer.1.qkv", "layer.1.attention"}) {
    EXPECT_EQ(rows_of(name), kTokens) << name;
  }
  // Instead, the result of attention and the rows added to it are pooled, once each.
  size_t pools = 0;
  for (const auto& any : main_subgraph(graph).ops) pools += any->attributes.type == fb::OpAttributes::Pool ? 1U : 0U;
  EXPECT_EQ(pools, 2u);
  EXPECT_EQ(op(graph, "layer.1.out").inputs[0], op(graph, "layer.1.attention.first").outputs[0]);
  EXPECT_EQ(epilogue_of(op(graph, "layer.1.out")).residual, op(graph, "layer.0.ffn2.first").outputs[0]);
  EXPECT_EQ(epilogue_of(op(graph, "layer.1.ffn2")).residual, op(graph, "layer.1.out").outputs[0]);
  EXPECT_EQ(op(graph, "pooler").inputs[0], op(graph, "layer.1.ffn2").outputs[0]);
  // Ops follow the ops whose results they read.
  std::set<int32_t> made;
  for (const auto& any : main_subgraph(graph).ops) {
    for_each_read(*any, [&](int32_t t) { EXPECT_TRUE(is_constant(graph, t) || made.count(t) != 0) << any->name; });
    for_each_write(*any, [&](int32_t t) { made.insert(t); });
  }
}

TEST(Lower, PooledRowsGoBackToWhereTheyWere) {
  const Graph before = fixture::bert_graph({});
  Graph graph = clone(before);
  pool_early(graph);
  pool_late(graph);
  const auto& ops = main_subgraph(graph).ops;
  const auto& wanted = main_subgraph(before).ops;
  ASSERT_EQ(ops.size(), wanted.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i]->attributes.type, wanted[i]->attributes.type) << wanted[i]->name;
    EXPECT_EQ(tensor(graph, ops[i]->outputs[0]).shape.front().symbol(),
              tensor(before, wanted[i]->outputs[0]).shape.front().symbol())
        << wanted[i]->name;
  }
}

TEST(Lower, RowsThatOthersReadAreComputed) {
  fixture::Shape shape;
  shape.tags = 70;
  Graph graph = fixture::bert_graph(shape);
  pool_early(graph);
  EXPECT_EQ(op(graph, "first").inputs[0], op(graph, "layer.1.ffn2").outputs[0]);
  EXPECT_EQ(tensor(graph, op(graph, "layer.1.ffn2").outputs[0]).shape.front().symbol(), kTokens);
  // A mean needs all rows, and so does the maximum of each column.
  for (const fb::PoolKind kind : {fb::PoolKind::mean, fb::PoolKind::max, fb::PoolKind::sum}) {
    Graph other = fixture::bert_graph({});
    for (auto& any : main_subgraph(other).ops) {
      if (any->name == "first") any->attributes.AsPool()->kind = kind;
    }
    pool_early(other);
    EXPECT_EQ(tensor(other, op(other, "layer.1.ffn2").outputs[0]).shape.front().symbol(), kTokens);
  }
}

TEST(Lower, AnInt8ResidualIsTheOnlyThingThatLivesBesideKeysAndValues) {
  fixture::Shape shape;
  shape.tags = 70;
  const Graph graph = lowered(fb::DType::i8, shape, Plan::kSmall, fb::DType::i8);
  const int32_t x = op(graph, "embeddings").outputs[1];
  for (const char* name : {"layer.0.out", "layer.0.ffn2", "layer.1.out", "layer.1.ffn2"}) {
    EXPECT_EQ(op(graph, name).outputs[0], -1) << name;
    EXPECT_EQ(op(graph, name).outputs[1], x) << name;
    EXPECT_EQ(epilogue_of(op(graph, name)).residual, x) << name;
  }
  EXPECT_EQ(op(graph, "first").inputs[0], x);
  EXPECT_EQ(op(graph, "tagger").inputs[0], x);
  for (const auto& any : graph.model.tensors) {
    const bool pages = any->layout == fb::Layout::key_pages || any->layout == fb::Layout::value_pages;
    const bool constant = any->role == fb::Role::constant;
    if (constant || any->region == fb::Region::tile || pages || any->role == fb::Role::output) continue;
    EXPECT_EQ(any->name, tensor(graph, x).name);
  }
}

TEST(Lower, ResidualStreamIsOneSharedTensor) {
  for (const fb::DType weights : {fb::DType::f32, fb::DType::i8}) {
    const Graph graph = lowered(weights);
    const int32_t x = op(graph, "embeddings").outputs[0];
    EXPECT_EQ(tensor(graph, x).region, fb::Region::shared);
    for (const char* name : {"layer.0.out", "layer.0.ffn2", "layer.1.out", "layer.1.ffn2"}) {
      EXPECT_EQ(op(graph, name).outputs[0], x) << name;
      EXPECT_EQ(epilogue_of(op(graph, name)).residual, x) << name;
    }
    EXPECT_EQ(op(graph, "first").inputs[0], x);
  }
}

TEST(Lower, QueriesLiveInATileKeysAndValuesAreShared) {
  const Graph graph = lowered(fb::DType::i8, {}, Plan::kSmall);
  for (const char* layer : {"layer.0", "layer.1"}) {
    const fb::OpT& query = op(graph, layer + std::string(".split.query"));
    const fb::OpT& key_value = op(graph, layer + std::string(".split.key_value"));
    EXPECT_EQ(query.outputs[1], -1);
    EXPECT_EQ(query.outputs[2], -1);
    EXPECT_EQ(key_value.outputs[0], -1);
    for (const int32_t output : {query.outputs[0], key_value.outputs[1], key_value.outputs[2]}) {
      EXPECT_EQ(tensor(graph, output).type, fb::DType::i8);
      EXPECT_EQ(tensor(graph, output).scale_kind, fb::ScaleKind::per_row_head);
    }
    EXPECT_EQ(tensor(graph, query.outputs[0]).layout, fb::Layout::head_rows);
    EXPECT_EQ(tensor(graph, query.outputs[0]).region, fb::Region::tile);
    EXPECT_EQ(tensor(graph, key_value.outputs[1]).region, fb::Region::shared);
    EXPECT_EQ(tensor(graph, key_value.outputs[2]).region, fb::Region::shared);
  }
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
  // The rows of the embeddings are an output, so later layers must not overwrite them.
  Graph graph = fixture::bert_graph({});
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
