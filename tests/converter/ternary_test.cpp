// Ternary weights: what is ternary, which matrices become so, and files that contain them.
#include "quantize/ternary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "converter/pack_graphs.h"
#include "data/texts.h"
#include "graph/access.h"
#include "graph/rows.h"
#include "graph/tensor_classes.h"
#include "pack/build.h"
#include "quantize/types.h"
#include "run/runner.h"
#include "source/model_source.h"

namespace bantam::convert {
namespace {

TEST(Ternary, ARowHasItsLargestMagnitudeAsScale) {
  const std::vector<float> row = {0.25f, 0, -0.25f, 0.25f};
  EXPECT_EQ(ternary_scale(row.data(), row.size()), 0.25f);
  std::vector<int8_t> stored(row.size());
  ternary_quantize(row.data(), row.size(), 0.25f, stored.data());
  EXPECT_EQ(stored, (std::vector<int8_t>{1, 0, -1, 1}));
}

TEST(Ternary, RoundingOfBf16IsAllowedAndNoMore) {
  for (const float near : {1.0f, 255.5f / 256, 0.5f / 256, 0.0f}) {
    const std::vector<float> row = {3, -3 * near, 3 * near};
    EXPECT_EQ(ternary_scale(row.data(), row.size()), 3.0f) << near;
  }
  for (const float far : {254.0f / 256, 0.5f, 2.0f / 256}) {
    const std::vector<float> row = {3, -3 * far};
    EXPECT_FALSE(ternary_scale(row.data(), row.size())) << far;
  }
}

TEST(Ternary, ZerosHaveAScaleOfOne) {
  const std::vector<float> row(7, 0.0f);
  EXPECT_EQ(ternary_scale(row.data(), row.size()), 1.0f);
}

/// Rounds every matrix that layers multiply with, but none that is looked up, to -1, 0 and 1 times a scale of each row.
Graph ternary_graph() {
  Graph graph = fixture::bert_graph({});
  std::mt19937 random(3);
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (graph.constants[i] == nullptr || !is_weight_matrix(graph, i) || graph.constants[i]->embedding) continue;
    auto changed = std::make_shared<Constant>(*graph.constants[i]);
    hold_values(*changed);
    const size_t columns = width(*graph.model.tensors[i]);
    float scale = 1;
    for (size_t k = 0; k < changed->values.size(); ++k) {
      if (k % columns == 0) scale = 0.02f + static_cast<float>(random() % 100) / 1000;
      changed->values[k] = static_cast<float>(static_cast<int>(random() % 3) - 1) * scale;
    }
    graph.constants[i] = std::move(changed);
  }
  return graph;
}

size_t count(const Built& built, fb::DType type) {
  size_t found = 0;
  for (const auto& tensor : built.graph.model.tensors)
    found += tensor->type == type && tensor->shape.size() == 2 ? size_t{1} : size_t{0};
  return found;
}

TypeOptions of(fb::DType weights) {
  TypeOptions options;
  options.weights = weights;
  options.small_matrix = 0;
  options.sparse = Sparse::kNever;
  return options;
}

TEST(Ternary, FilesGiveTheSameBitsAsInt8) {
  const Graph graph = ternary_graph();
  const Built eight = build_model(graph, of(fb::DType::i8));
  const Built two = build_model(graph, of(fb::DType::ternary));
  EXPECT_GE(count(two, fb::DType::ternary), 8u);
  EXPECT_LT(two.bytes.size(), eight.bytes.size());
  Runner expected(eight.bytes, 33);
  Runner runner(two.bytes, 33);
  for (const Sample& sample : random_samples(expected.model().vocabulary(), 33)) {
    EXPECT_EQ(runner.run(sample)[0].values, expected.run(sample)[0].values);
  }
}

TEST(Ternary, TablesAndHeadsBecomeInt8) {
  const Built built = build_model(ternary_graph(), of(fb::DType::ternary));
  const auto& ops = main_subgraph(built.graph).ops;
  for (const auto& op : ops) {
    for (const int32_t table : tables_of(*op)) EXPECT_EQ(tensor(built.graph, table).type, fb::DType::i8);
  }
  const int32_t answer = built.graph.model.outputs.front()->tensor;
  for (const auto& op : ops) {
    if (op->attributes.type != fb::OpAttributes::Linear || op->outputs[0] != answer) continue;
    EXPECT_EQ(tensor(built.graph, op->inputs[1]).type, fb::DType::i8);
  }
}

TEST(Ternary, MatricesThatAreNotAreRefusedByName) {
  Graph graph = ternary_graph();
  const auto index = static_cast<size_t>(std::find_if(graph.model.tensors.begin(), graph.model.tensors.end(),
                                                      [](const auto& t) { return t->name == "layer.0.ffn1.weight"; }) -
                                         graph.model.tensors.begin());
  ASSERT_LT(index, graph.constants.size());
  graph.constants[index]->values[5] = 7;
  TypeOptions options = of(fb::DType::ternary);
  try {
    build_model(graph, options);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kInvalid);
    EXPECT_NE(std::string(error.what()).find("layer.0.ffn1.weight\" has rows that are not -1, 0 and 1"),
              std::string::npos)
        << error.what();
  }
  options.keep.push_back({"layer.0.ffn1.weight$", fb::DType::i8});
  EXPECT_GE(count(build_model(graph, options), fb::DType::ternary), 7u);
}

TEST(Ternary, Int8FilesKeepWhatTheSourceHasSo) {
  Graph graph = ternary_graph();
  for (const auto& tensor : graph.model.tensors) {
    if (tensor->name == "layer.0.ffn1.weight" || tensor->name == "layer.1.ffn1.weight")
      tensor->source_type = fb::DType::ternary;
  }
  EXPECT_EQ(count(build_model(graph, of(fb::DType::i8)), fb::DType::ternary), 2u);
  EXPECT_EQ(count(build_model(graph, of(fb::DType::i4)), fb::DType::ternary), 0u);
  TypeOptions options = of(fb::DType::i8);
  options.keep.push_back({"layer.1.ffn1.weight$", fb::DType::i8});
  EXPECT_EQ(count(build_model(graph, options), fb::DType::ternary), 1u);
}

TEST(Ternary, WeightsThatLayersRoundAreNotTrained) {
  try {
    open_checkpoint(std::filesystem::path(BANTAM_SOURCE_DIR) / "tests/golden/ternary/online");
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("quantization_config: layers that round their weights are not trained"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace bantam::convert
