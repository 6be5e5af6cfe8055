// Moves outliers from activations into weights.
#include "quantize/migrate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "converter/pack_graphs.h"
#include "graph/access.h"
#include "pack/lower.h"
#include "quantize/types.h"

namespace bantam::convert {
namespace {

using fixture::random_values;

/// Two norms of one sum, each before its own layer; the layers may share their weights, as in ALBERT.
Graph two_layers(bool shared) {
  constexpr uint32_t kWidth = 128;
  Graph graph;
  Builder build(graph);
  build.input("input_ids", fb::InputKind::ids, 50);
  const int32_t words = build.embedding("words", 50, kWidth, random_values(50 * kWidth, 1));
  const int32_t x = build.embed("embed", {{words, fb::IndexSource::ids}}, {});
  const auto normed = [&](const std::string& name, uint32_t seed) {
    EpilogueSpec norm;
    norm.norm = fb::NormKind::layer;
    norm.gamma = build.vector(name + ".gamma", random_values(kWidth, seed));
    norm.beta = build.vector(name + ".beta", random_values(kWidth, seed + 1));
    return build.row(name, x, norm);
  };
  const auto weight = [&](const char* name) {
    return build.linear_weight(name, kWidth, kWidth, random_values(kWidth * kWidth, 2));
  };
  const int32_t first = weight("first.weight"), second = shared ? first : weight("second.weight");
  build.output("a", fb::OutputRole::none, build.linear("first", normed("norm.a", 3), first, kAbsent, {}));
  build.output("b", fb::OutputRole::none, build.linear("second", normed("norm.b", 5), second, kAbsent, {}));
  choose_types(graph, {});
  quantize_activations(graph);
  ColumnMaxima maxima;
  for (const char* name : {"norm.a", "norm.b"}) {
    maxima[name] = std::vector<float>(kWidth, 1.0F);
    maxima[name][3] = 50.0F;
  }
  migrate_outliers(graph, maxima);
  return graph;
}

size_t scaled_constants(const Graph& graph) {
  return static_cast<size_t>(std::count_if(graph.constants.begin(), graph.constants.end(), [](const auto& constant) {
    return constant != nullptr && !constant->column_factors.empty();
  }));
}

TEST(Migration, MovesOutliersIntoTheWeightsThatReadThem) {
  const Graph graph = two_layers(false);
  EXPECT_EQ(scaled_constants(graph), 2U);
  for (const auto& constant : graph.constants) {
    if (constant == nullptr || constant->column_factors.empty()) continue;
    EXPECT_GT(constant->column_factors[3], 2 * constant->column_factors[4]);
  }
}

TEST(Migration, LeavesWeightsThatSeveralActivationsMeetAsTheyAre) { EXPECT_EQ(scaled_constants(two_layers(true)), 0U); }

}  // namespace
}  // namespace bantam::convert
