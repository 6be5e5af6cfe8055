// The memory plan: tensors that are in use at the same time never overlap, for any lengths.
#include "pack/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "converter/pack_graphs.h"
#include "graph/access.h"
#include "pack/lower.h"
#include "quantize/types.h"

namespace bantam::convert {
namespace {

const std::vector<uint64_t> kTypical = {128, 16, 64};

uint64_t at(const Affine& a, const std::vector<uint64_t>& values) {
  uint64_t sum = a[0];
  for (size_t i = 0; i < values.size(); ++i) sum += a[i + 1] * values[i];
  return sum;
}

Affine end_of(const Affine& offset, const Affine& size) {
  Affine end(offset.size());
  for (size_t i = 0; i < offset.size(); ++i) end[i] = offset[i] + size[i];
  return end;
}

void expect_valid(const std::vector<Interval>& intervals, const Placement& placement) {
  const std::vector<std::vector<uint64_t>> lengths = {{16, 16, 16}, {128, 16, 64}, {16, 512, 16}, {4096, 16, 1024}};
  for (size_t a = 0; a < intervals.size(); ++a) {
    const Affine end_a = end_of(placement.offsets[a], intervals[a].size);
    EXPECT_TRUE(fits_before(end_a, placement.total));
    for (size_t b = a + 1; b < intervals.size(); ++b) {
      if (intervals[a].end < intervals[b].begin || intervals[b].end < intervals[a].begin) continue;
      const Affine end_b = end_of(placement.offsets[b], intervals[b].size);
      ASSERT_TRUE(fits_before(end_a, placement.offsets[b]) || fits_before(end_b, placement.offsets[a]))
          << "intervals " << a << " and " << b;
      for (const auto& values : lengths) {
        ASSERT_TRUE(at(end_a, values) <= at(placement.offsets[b], values) ||
                    at(end_b, values) <= at(placement.offsets[a], values));
      }
    }
  }
}

TEST(Plan, RandomIntervalsNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Interval> intervals(1 + random() % 24);
    for (Interval& interval : intervals) {
      interval.size.assign(4, 0);
      // One symbol per tensor, as in models, or several, which offsets also allow.
      for (uint32_t i = 0; i < 1 + random() % 2; ++i) interval.size[random() % 4] = 64 * (1 + random() % 40);
      interval.begin = random() % 12;
      interval.end = interval.begin + random() % 5;
    }
    const Placement placement = place(intervals, kTypical);
    expect_valid(intervals, placement);
    for (const Affine& offset : placement.offsets) {
      for (const uint64_t coefficient : offset) EXPECT_EQ(coefficient % 64, 0u);
    }
  }
}

TEST(Plan, ReusesWhatIsFree) {
  // Four equal tensors, each in use together with the next one only: two places are enough.
  std::vector<Interval> chain;
  for (uint64_t i = 0; i < 4; ++i) chain.push_back({{0, 256, 0, 0}, i, i + 1});
  EXPECT_EQ(place(chain, kTypical).total, (Affine{0, 512, 0, 0}));
  // Never in use together: the size of the largest.
  std::vector<Interval> apart = {{{0, 64, 0, 0}, 0, 0}, {{0, 640, 0, 0}, 1, 1}, {{0, 128, 0, 0}, 2, 2}};
  EXPECT_EQ(place(apart, kTypical).total, (Affine{0, 640, 0, 0}));
}

TEST(Plan, NoIntervals) { EXPECT_EQ(place({}, kTypical).total, (Affine{0, 0, 0, 0})); }

/// Brute force over a lowered model: when each tensor is accessed, and where it is.
void expect_model_valid(const Graph& graph) {
  const fb::SubgraphT& subgraph = main_subgraph(graph);
  for (const fb::Region region : {fb::Region::shared, fb::Region::tile}) {
    std::vector<std::vector<uint64_t>> touched(graph.model.tensors.size());
    for (size_t s = 0; s < subgraph.steps.size(); ++s) {
      const fb::StepT& step = *subgraph.steps[s];
      for (size_t i = step.first_op; i < size_t{step.first_op} + step.op_count; ++i) {
        const auto touch = [&](int32_t t) {
          const bool here = !is_constant(graph, t) && tensor(graph, t).region == region;
          if (here) touched[static_cast<size_t>(t)].push_back(region == fb::Region::shared ? s : i);
        };
        for_each_read(*subgraph.ops[i], touch);
        for_each_write(*subgraph.ops[i], touch);
      }
    }
    std::vector<Interval> intervals;
    Placement placement;
    const auto& total = region == fb::Region::shared ? graph.model.shared_bytes : graph.model.tile_bytes;
    placement.total.assign(total.begin(), total.end());
    for (size_t t = 0; t < touched.size(); ++t) {
      if (touched[t].empty()) continue;
      const fb::TensorT& placed = *graph.model.tensors[t];
      const bool output = placed.role == fb::Role::output;
      intervals.push_back({arena_size(graph, placed), touched[t].front(), output ? 1000u : touched[t].back()});
      placement.offsets.emplace_back(placed.offset.begin(), placed.offset.end());
      EXPECT_EQ(placed.shape.front().symbol() == int32_t{kTile}, region == fb::Region::tile) << placed.name;
    }
    EXPECT_FALSE(intervals.empty());
    expect_valid(intervals, placement);
  }
}

TEST(Plan, LoweredModels) {
  for (const uint32_t layers : {1u, 2u, 5u}) {
    for (const fb::DType weights : {fb::DType::f32, fb::DType::i8}) {
      for (const bool tied : {false, true}) {
        fixture::Shape shape;
        shape.layers = layers;
        shape.tied_output = tied;
        Graph graph = fixture::bert_graph(shape);
        TypeOptions types;
        types.weights = weights;
        choose_types(graph, types);
        if (tied) split_queries(graph);
        quantize_activations(graph, tied ? fb::DType::i8 : fb::DType::f32);
        make_steps(graph, tied);
        share_storage(graph);
        plan_memory(graph);
        expect_model_valid(graph);
      }
    }
  }
}

/// Layers run one after the other, so memory does not grow with their number; thousands of operators can be planned.
TEST(Plan, DepthCostsNoMemory) {
  for (const bool small : {false, true}) {
    std::vector<std::vector<uint32_t>> bytes;
    for (const uint32_t layers : {4u, 833u}) {
      fixture::Shape shape;
      shape.layers = layers;
      shape.hidden = shape.inner = 8;
      shape.heads = 1;
      Graph graph = fixture::bert_graph(shape);
      make_steps(graph, small);
      share_storage(graph);
      plan_memory(graph);
      EXPECT_GE(main_subgraph(graph).ops.size(), layers * 6u);
      bytes.push_back(graph.model.shared_bytes);
      bytes.push_back(graph.model.tile_bytes);
    }
    EXPECT_EQ(bytes[0], bytes[2]);
    EXPECT_EQ(bytes[1], bytes[3]);
  }
}

}  // namespace
}  // namespace bantam::convert
