// The weights that pruning removes, sparse layouts, and files that contain them.
#include "prune/prune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/error.h"
#include "converter/pack_graphs.h"
#include "data/texts.h"
#include "format/bitmask.h"
#include "format/sparse_1x4.h"
#include "graph/access.h"
#include "kernels/kernels.h"
#include "pack/build.h"
#include "prune/costs.h"
#include "run/runner.h"

namespace bantam::convert {
namespace {

struct Matrix {
  size_t rows, columns;
  std::vector<float> before, after;
};

/// Returns the weights of linear layers that int8 files quantize, after pruning.
std::vector<Matrix> prune_matrices(const Graph& graph, const PruneOptions& options) {
  Graph typed = clone(graph);
  choose_types(typed, {});
  Graph pruned = clone(graph);
  prune(pruned, options, {}, {});
  std::vector<Matrix> found;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (!graph.constants[i]) continue;
    const fb::TensorT& t = *typed.model.tensors[i];
    const bool linear = graph.constants[i]->linear_weight && !graph.constants[i]->embedding;
    if (linear && t.type == fb::DType::i8) {
      found.push_back({static_cast<size_t>(rows(t)), static_cast<size_t>(width(t)), graph.constants[i]->values,
                       pruned.constants[i]->values});
    } else {
      EXPECT_EQ(graph.constants[i]->values, pruned.constants[i]->values) << t.name;
    }
  }
  return found;
}

double zeros(const Matrix& m) {
  return static_cast<double>(std::count(m.after.begin(), m.after.end(), 0.0f)) / static_cast<double>(m.after.size());
}

TEST(Prune, TakesTheSmallestBlocksOfAllLayers) {
  PruneOptions options;
  options.share = 0.8;
  const std::vector<Matrix> matrices = prune_matrices(fixture::bert_graph({}), options);
  ASSERT_GE(matrices.size(), 8u);
  double largest_gone = 0;
  double smallest_kept = 1e9;
  double gone = 0;
  double all = 0;
  for (const Matrix& m : matrices) {
    ASSERT_EQ(m.columns % 4, 0u);
    for (size_t i = 0; i < m.before.size(); i += 4) {
      double score = 0;
      size_t zero = 0;
      for (size_t j = i; j < i + 4; ++j) {
        score += double{m.before[j]} * m.before[j];
        zero += m.after[j] == 0;
      }
      EXPECT_TRUE(zero == 4 || std::equal(&m.before[i], &m.before[i] + 4, &m.after[i]));
      all += 1;
      if (zero != 4) {
        smallest_kept = std::min(smallest_kept, score);
        continue;
      }
      gone += 1;
      largest_gone = std::max(largest_gone, score);
    }
  }
  EXPECT_LE(largest_gone, smallest_kept);
  EXPECT_EQ(gone, std::ceil(all * 0.8));
}

TEST(Prune, UniformTakesTheSameShareOfEachLayer) {
  PruneOptions options;
  options.share = 0.5;
  options.scope = PruneScope::kUniform;
  for (const PrunePattern pattern : {PrunePattern::k1x4, PrunePattern::kUnstructured, PrunePattern::k4x16}) {
    options.pattern = pattern;
    for (const Matrix& m : prune_matrices(fixture::bert_graph({}), options)) {
      EXPECT_NEAR(zeros(m), 0.5, pattern == PrunePattern::k4x16 ? 0.1 : 0.01) << m.rows << " " << pattern_name(pattern);
    }
  }
}

TEST(Prune, TwoOfFourKeepsTheLargerTwo) {
  PruneOptions options;
  options.share = 0.5;
  options.pattern = PrunePattern::k2of4;
  for (const Matrix& m : prune_matrices(fixture::bert_graph({}), options)) {
    for (size_t i = 0; i < m.before.size(); i += 4) {
      float kept = 1e9f;
      float gone = 0;
      int count = 0;
      for (size_t j = i; j < i + 4; ++j) {
        if (m.after[j] == 0) {
          ++count;
          gone = std::max(gone, std::fabs(m.before[j]));
        } else {
          kept = std::min(kept, std::fabs(m.after[j]));
        }
      }
      EXPECT_EQ(count, 2);
      EXPECT_LE(gone, kept);
    }
  }
}

TEST(Prune, WeightsOfLargeInputsStay) {
  const Graph graph = fixture::bert_graph({});
  InputMoments moments;
  for (const auto& op : main_subgraph(graph).ops) {
    if (op->attributes.type != fb::OpAttributes::Linear) continue;
    Moments& m = moments[tensor(graph, op->inputs[0]).name];
    m.width = static_cast<size_t>(width(tensor(graph, op->inputs[1])));
    m.rows = 1;
    m.products.assign(m.width * m.width, 0.0);
    m.sums.assign(m.width, 0.0);
    for (size_t i = 0; i < m.width; ++i) m.products[i * m.width + i] = i < 4 ? 1e6 : 1.0;
  }
  PruneOptions options;
  options.share = 0.7;
  options.by_activation = true;
  Graph pruned = clone(graph);
  prune(pruned, options, {}, moments);
  size_t checked = 0;
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (!graph.constants[i] || graph.constants[i]->values == pruned.constants[i]->values) continue;
    const auto columns = static_cast<size_t>(width(*graph.model.tensors[i]));
    for (size_t at = 0; at < pruned.constants[i]->values.size(); at += columns, ++checked) {
      for (size_t c = 0; c < 4; ++c) {
        EXPECT_EQ(pruned.constants[i]->values[at + c], graph.constants[i]->values[at + c]);
      }
    }
  }
  EXPECT_GT(checked, 100u);
}

TEST(Prune, SaysWhatIsWrong) {
  PruneOptions options;
  EXPECT_EQ(prune_problem(options), "");
  for (const double share : {-0.1, 1.0, 1.5, std::nan("")}) {
    options.share = share;
    EXPECT_NE(prune_problem(options).find("below 1"), std::string::npos) << share;
  }
  options.share = 0.8;
  options.pattern = PrunePattern::k2of4;
  EXPECT_NE(prune_problem(options).find("--prune 0.5"), std::string::npos);
  Graph graph = fixture::bert_graph({});
  EXPECT_THROW(prune(graph, options, {}, {}), Error);
}

/// Decodes the layout.
std::vector<int8_t> expand(const std::vector<uint8_t>& bytes, size_t rows, size_t columns) {
  const size_t padded = (rows + 15) / 16 * 16;
  const size_t steps = (bytes.size() - padded * 2) / 24;
  std::vector<int8_t> weights(rows * columns, 0);
  size_t step = 0;
  for (size_t group = 0; group < padded / 4; ++group) {
    uint32_t end;
    std::memcpy(&end, &bytes[steps * 24 + group * 4], 4);
    for (; step < end; ++step) {
      for (size_t j = 0; j < 4; ++j) {
        uint16_t block;
        std::memcpy(&block, &bytes[steps * 16 + (step * 4 + j) * 2], 2);
        const size_t row = group * 4 / 64 * 64 + bytes[steps * 24 + padded + group * 4 + j];
        for (size_t i = 0; i < 4; ++i) {
          const auto w = static_cast<int8_t>(bytes[step * 16 + j * 4 + i]);
          if (w == 0) continue;
          EXPECT_LT(row, rows);
          EXPECT_LT(size_t{block} * 4 + i, columns);
          int8_t& to = weights.at(row * columns + size_t{block} * 4 + i);
          EXPECT_EQ(to, 0);
          to = w;
        }
      }
    }
  }
  EXPECT_EQ(step, steps);
  return weights;
}

/// Calls f(weights, rows, columns, kept) for 200 random matrices in which `kept` percent of the weights are nonzero: 0,
/// 25, 50, 75 or 100.
template <class F>
void for_matrices_with_zeros(uint32_t seed, const F& f) {
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const size_t rows = 1 + random() % 200;
    const size_t columns = 1 + random() % 90;
    const auto kept = static_cast<uint32_t>(random() % 5 * 25);
    std::vector<int8_t> weights(rows * columns, 0);
    for (int8_t& w : weights) w = random() % 100 < kept ? static_cast<int8_t>(random() % 255 - 127) : int8_t{0};
    f(weights, rows, columns, kept);
  }
}

TEST(Sparse, LayoutHoldsEveryWeight) {
  for_matrices_with_zeros(5, [](const std::vector<int8_t>& weights, size_t rows, size_t columns, uint32_t kept) {
    const std::vector<uint8_t> bytes = compress_1x4(weights.data(), rows, columns);
    EXPECT_EQ(expand(bytes, rows, columns), weights) << rows << " x " << columns;
    const double share = zero_blocks(weights.data(), rows, columns);
    EXPECT_TRUE(kept != 0 || share == 1.0) << share;
    EXPECT_TRUE(kept != 100 || share < 0.1) << share;
  });
}

TEST(Bitmask, LayoutHoldsEveryWeight) {
  for_matrices_with_zeros(6, [](const std::vector<int8_t>& weights, size_t rows, size_t columns, uint32_t) {
    const std::vector<uint8_t> bytes = compress_bitmask(weights.data(), rows, columns);
    const size_t quads = (columns + 3) / 4;
    const size_t masks = (rows + 15) / 16 * quads * 8;
    size_t next = masks;
    std::vector<int8_t> found(weights.size(), 0);
    for (size_t bit = 0; bit < masks * 8; ++bit) {
      if ((bytes[bit / 8] >> (bit % 8) & 1) == 0) continue;
      const size_t row = bit / 64 / quads * 16 + bit % 64 / 4;
      const size_t column = bit / 64 % quads * 4 + bit % 4;
      ASSERT_LT(row, rows);
      ASSERT_LT(column, columns);
      EXPECT_NE(bytes.at(next), 0) << "zeros are not stored";
      found[row * columns + column] = static_cast<int8_t>(bytes[next++]);
    }
    EXPECT_EQ(found, weights) << rows << " x " << columns;
    EXPECT_EQ(bytes.size(), next + kernels::kBitmaskSlack);
  });
}

/// Measured fractions are accurate to one or two hundredths.
TEST(Sparse, CostsOfATargetAreNoLessFavourableForMoreTokensAndInputs) {
  constexpr double kNoise = 0.03;
  std::vector<std::string> targets = sparse_targets();
  EXPECT_NE(std::find(targets.begin(), targets.end(), "zen4"), targets.end());
  EXPECT_NE(std::find(targets.begin(), targets.end(), "avx2"), targets.end());
  targets.emplace_back("");
  for (const std::string& target : targets) {
    double before = 2;
    for (const uint32_t tokens : {1u, 4u, 8u, 16u, 100u}) {
      const double share = least_zero_blocks(tokens, 384, target);
      EXPECT_GT(share, 0.0);
      EXPECT_LE(share, before + kNoise) << target << " " << tokens;
      before = share;
      // A fraction of zero blocks that is faster on every target is faster on this one.
      EXPECT_GE(least_zero_blocks(tokens, 384), share) << target;
    }
    EXPECT_LT(before, 1.0) << target;
    EXPECT_LE(least_zero_blocks(16, 384, target), least_zero_blocks(16, 100, target) + kNoise);
    EXPECT_EQ(least_zero_blocks(0, 384, target), 2.0) << "fewer tokens than were measured";
  }
}

/// A core counts with the best of its instruction sets, and an instruction set with the worst of its cores.
TEST(Sparse, CostsOfACoreAndOfItsInstructionSets) {
  for (const uint32_t tokens : {4u, 16u}) {
    for (const uint32_t inputs : {128u, 384u, 1536u}) {
      EXPECT_LE(least_zero_blocks(tokens, inputs, "zen4"), least_zero_blocks(tokens, inputs, "avx512vnni"));
    }
  }
  EXPECT_LT(least_zero_blocks(16, 384, "zen4"), least_zero_blocks(16, 384, "avx512vnni256"));
  EXPECT_LT(least_zero_blocks_helium(4, 512), least_zero_blocks_helium(3, 512));
}

size_t layers(const Built& built, fb::Layout layout) {
  size_t count = 0;
  for (const auto& t : built.graph.model.tensors) count += t->layout == layout ? size_t{1} : size_t{0};
  return count;
}
size_t sparse_layers(const Built& built) { return layers(built, fb::Layout::sparse_1x4); }

void expect_same_bits(const Built& built, const Built& dense) {
  Runner expected(dense.bytes, 33);
  Runner runner(built.bytes, 33);
  for (const Sample& sample : random_samples(expected.model().vocabulary(), 33)) {
    EXPECT_EQ(runner.run(sample)[0].values, expected.run(sample)[0].values);
  }
}

TEST(Sparse, FilesGiveTheSameBitsAsDenseOnes) {
  fixture::Shape shape;
  shape.inner = 150;  // spans of 64, 64 and 32; widths that are not multiples of 4
  Graph graph = fixture::bert_graph(shape);
  PruneOptions prune_most;
  prune_most.share = 0.85;
  prune(graph, prune_most, {}, {});
  TypeOptions options;
  options.sparse = Sparse::kNever;
  const Built dense = build_model(graph, options);
  EXPECT_EQ(sparse_layers(dense), 0u);
  options.sparse = Sparse::kAuto;
  EXPECT_GE(sparse_layers(build_model(graph, options)), 6u);
  options.sparse = Sparse::kAlways;
  const Built sparse = build_model(graph, options);
  EXPECT_GE(sparse_layers(sparse), 8u);
  EXPECT_LT(sparse.bytes.size(), dense.bytes.size());
  expect_same_bits(sparse, dense);
}

TEST(Bitmask, FilesGiveTheSameBitsAsDenseOnes) {
  fixture::Shape shape;
  shape.inner = 150;
  Graph graph = fixture::bert_graph(shape);
  PruneOptions prune_most;
  prune_most.share = 0.8;
  prune_most.pattern = PrunePattern::kUnstructured;
  prune(graph, prune_most, {}, {});
  TypeOptions options;
  options.sparse = Sparse::kNever;
  const Built dense = build_model(graph, options);
  options.sparse = Sparse::kSmallest;
  const Built small = build_model(graph, options);
  EXPECT_GE(layers(small, fb::Layout::bitmask_k4n16), 8u);
  size_t bytes = 0;
  size_t tiles = 0;
  for (size_t i = 0; i < small.graph.model.tensors.size(); ++i) {
    if (small.graph.model.tensors[i]->layout != fb::Layout::bitmask_k4n16) continue;
    bytes += static_cast<size_t>(small.graph.model.tensors[i]->data->size());
    tiles += static_cast<size_t>(dense.graph.model.tensors[i]->data->size());
  }
  EXPECT_LE(static_cast<double>(bytes), 0.34 * static_cast<double>(tiles));
  expect_same_bits(small, dense);
}

TEST(Bitmask, SmallestIsWhateverTakesTheFewestBytes) {
  // Widths of 40 are padded to 48 with zeros, which a bitmask does not store even if there are no other zeros.
  const Graph full = fixture::bert_graph({});
  size_t tiles = 0;
  size_t blocks = 0;
  for (const double share : {0.0, 0.5, 0.97}) {
    Graph graph = clone(full);
    PruneOptions options;
    options.share = share;
    prune(graph, options, {}, {});
    const auto with = [&](Sparse sparse) {
      TypeOptions types;
      types.sparse = sparse;
      return build_model(graph, types);
    };
    const Built smallest = with(Sparse::kSmallest);
    for (const Sparse other : {Sparse::kNever, Sparse::kAlways, Sparse::kAuto}) {
      const Built built = with(other);
      for (size_t i = 0; i < built.graph.model.tensors.size(); ++i) {
        if (!built.graph.constants[i]) continue;
        EXPECT_LE(smallest.graph.model.tensors[i]->data->size(), built.graph.model.tensors[i]->data->size());
      }
    }
    tiles += layers(smallest, fb::Layout::tile_k4n16);
    blocks += sparse_layers(smallest);
  }
  EXPECT_GE(tiles, 1u);
  EXPECT_GE(blocks, 1u);
}

TEST(Sparse, DenseModelsStayDense) { EXPECT_EQ(sparse_layers(build_model(fixture::bert_graph({}), {})), 0u); }

TEST(Sparse, RoundingKeepsPrunedWeights) {
  std::mt19937 random(3);
  constexpr size_t kWidth = 24;
  Moments moments;
  moments.width = kWidth;
  moments.products.assign(kWidth * kWidth, 0.0);
  moments.sums.assign(kWidth, 0.0);
  std::vector<float> x(kWidth);
  for (int r = 0; r < 100; ++r) {
    for (float& v : x) v = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    moments.add(x.data());
  }
  std::vector<float> values(kWidth * 8);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i / 4 % 3 == 0 ? static_cast<float>(random() % 100 + 1) : 0.0f;
  for (const fb::DType type : {fb::DType::i8, fb::DType::i4}) {
    const Rounded rounded = round_matrix(values, 8, type, 8, moments);
    size_t kept = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(values[i] != 0 || rounded.integers[i] == 0) << i;
      kept += rounded.integers[i] != 0;
    }
    EXPECT_GT(kept, 20u);
  }
}

}  // namespace
}  // namespace bantam::convert
