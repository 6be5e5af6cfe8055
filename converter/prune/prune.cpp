#include "prune/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "graph/error.h"
#include "pack/access.h"

namespace bantam::convert {
namespace {

struct BlockShape {
  size_t rows, columns;
};

BlockShape block_shape(PrunePattern pattern) {
  switch (pattern) {
    case PrunePattern::k1x4:
      return {1, 4};
    case PrunePattern::k4x16:
      return {16, 4};
    default:
      return {1, 1};
  }
}

/// A layer's matrix, and what each input counts.
struct Target {
  size_t tensor;
  size_t rows, columns;
  std::vector<double> importance;  // [columns]
};

/// Mean squares of the input; 1 where nothing was measured.
std::vector<double> importance_of(const Graph& graph, int32_t input, size_t columns, const InputMoments& moments) {
  std::vector<double> importance(columns, 1.0);
  const auto found = moments.find(tensor(graph, input).name);
  if (found == moments.end() || found->second.rows == 0) return importance;
  const Moments& m = found->second;
  for (size_t i = 0; i < columns; ++i) importance[i] = m.products[i * m.width + i] / static_cast<double>(m.rows);
  return importance;
}

std::vector<Target> find_targets(const Graph& graph, const TypeOptions& types, const InputMoments& moments) {
  Graph typed = clone(graph);
  choose_types(typed, types);
  std::map<size_t, Target> targets;  // in the order of tensors; a matrix that two layers share is pruned once
  for (const auto& op : main_subgraph(typed).ops) {
    if (op->attributes.type != fb::OpAttributes::Linear) continue;
    const auto index = static_cast<size_t>(op->inputs[1]);
    const fb::TensorT& weight = *typed.model.tensors[index];
    if (!is_integer(weight.type) || typed.constants[index]->embedding) continue;
    const size_t columns = width(weight);
    targets.emplace(index, Target{index, rows(weight), columns, importance_of(typed, op->inputs[0], columns, moments)});
  }
  std::vector<Target> result;
  for (auto& [index, target] : targets) result.push_back(std::move(target));
  return result;
}

struct Block {
  double score;
  uint32_t target;
  uint32_t block;
  bool operator<(const Block& other) const {
    if (score != other.score) return score < other.score;
    return target != other.target ? target < other.target : block < other.block;
  }
};

/// f(row, column) for each weight of a block.
template <class F>
void for_block(const Target& target, BlockShape shape, uint32_t block, const F& f) {
  const size_t across = (target.columns + shape.columns - 1) / shape.columns;
  const size_t row = block / across * shape.rows;
  const size_t column = block % across * shape.columns;
  for (size_t r = row; r < std::min(row + shape.rows, target.rows); ++r) {
    for (size_t c = column; c < std::min(column + shape.columns, target.columns); ++c) f(r, c);
  }
}

void add_blocks(const Target& target, uint32_t number, const std::vector<float>& values, BlockShape shape,
                std::vector<Block>* blocks) {
  const size_t across = (target.columns + shape.columns - 1) / shape.columns;
  const size_t count = (target.rows + shape.rows - 1) / shape.rows * across;
  for (uint32_t block = 0; block < count; ++block) {
    double score = 0;
    for_block(target, shape, block, [&](size_t r, size_t c) {
      const double w = values[r * target.columns + c];
      score += w * w * target.importance[c];
    });
    blocks->push_back({score, number, block});
  }
}

/// The share of `blocks` with the least scores comes first; how many those are.
size_t select_least(std::vector<Block>* blocks, double share) {
  const auto count = static_cast<size_t>(std::ceil(share * static_cast<double>(blocks->size()) - 1e-9));
  if (count < blocks->size()) {
    std::nth_element(blocks->begin(), blocks->begin() + static_cast<ptrdiff_t>(count), blocks->end());
  }
  return count;
}

/// The two smaller ones of every four, in each row.
void prune_2of4(const Target& target, std::vector<float>* values) {
  for (size_t r = 0; r < target.rows; ++r) {
    float* row = values->data() + r * target.columns;
    for (size_t c = 0; c < target.columns; c += 4) {
      std::vector<std::pair<double, size_t>> four;
      for (size_t i = c; i < std::min(c + 4, target.columns); ++i) {
        four.emplace_back(double{row[i]} * row[i] * target.importance[i], i);
      }
      std::sort(four.begin(), four.end());
      for (size_t i = 0; i < four.size() / 2; ++i) row[four[i].second] = 0;
    }
  }
}

}  // namespace

const char* pattern_name(PrunePattern pattern) {
  static constexpr const char* kNames[] = {"unstructured", "1x4", "2:4", "4x16"};
  return kNames[static_cast<size_t>(pattern)];
}

std::string prune_problem(const PruneOptions& options) {
  if (!(options.share >= 0) || options.share >= 1) {
    return fmt::format("--prune {}: the share of weights to set to 0 is at least 0 and below 1, such as 0.8",
                       options.share);
  }
  if (options.share > 0 && options.pattern == PrunePattern::k2of4 && options.share != 0.5) {
    return fmt::format("--prune {} --pattern 2:4: two of four are 0.5; say --prune 0.5, or another pattern",
                       options.share);
  }
  return "";
}

void prune(Graph& graph, const PruneOptions& options, const TypeOptions& types, const InputMoments& moments) {
  if (const std::string problem = prune_problem(options); !problem.empty()) throw Error(ExitCode::kUsage, problem);
  if (options.share == 0) return;
  const std::vector<Target> targets = find_targets(graph, types, moments);
  std::vector<std::vector<float>*> values;
  for (const Target& target : targets) {
    auto copy = std::make_shared<Constant>(*graph.constants[target.tensor]);
    values.push_back(&copy->values);
    graph.constants[target.tensor] = std::move(copy);
  }
  if (options.pattern == PrunePattern::k2of4) {
    for (size_t i = 0; i < targets.size(); ++i) prune_2of4(targets[i], values[i]);
    return;
  }
  const BlockShape shape = block_shape(options.pattern);
  std::vector<Block> blocks;
  const auto remove_least = [&] {
    const size_t count = select_least(&blocks, options.share);
    for (size_t i = 0; i < count; ++i) {
      const Target& target = targets[blocks[i].target];
      for_block(target, shape, blocks[i].block,
                [&](size_t r, size_t c) { (*values[blocks[i].target])[r * target.columns + c] = 0; });
    }
    blocks.clear();
  };
  for (size_t i = 0; i < targets.size(); ++i) {
    add_blocks(targets[i], static_cast<uint32_t>(i), *values[i], shape, &blocks);
    if (options.scope == PruneScope::kUniform) remove_least();
  }
  if (!blocks.empty()) remove_least();
}

}  // namespace bantam::convert
