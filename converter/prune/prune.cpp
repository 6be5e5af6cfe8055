#include "prune/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "graph/access.h"
#include "graph/rows.h"

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

/// The matrix of a layer, and the importance of each input.
struct Target {
  size_t tensor;
  size_t rows, columns;
  const double* importance;  // [columns], or null
  float* values = nullptr;
};

/// Mean squares of each measured input.
using InputImportance = std::map<std::string, std::vector<double>>;

InputImportance importance_of(const InputMoments& moments) {
  InputImportance importance;
  for (const auto& [name, m] : moments) {
    if (m.rows == 0) continue;
    std::vector<double>& squares = importance[name];
    for (size_t i = 0; i < m.width; ++i) squares.push_back(m.products[i * m.width + i] / static_cast<double>(m.rows));
  }
  return importance;
}

std::vector<Target> find_targets(const Graph& graph, const TypeOptions& types, const InputImportance& importance) {
  Graph typed = clone(graph);
  choose_types(typed, types);
  std::map<size_t, Target> targets;  // in the order of tensors; a matrix that two layers share is pruned once
  for (const auto& op : main_subgraph(typed).ops) {
    if (op->attributes.type != fb::OpAttributes::Linear) continue;
    const auto index = static_cast<size_t>(op->inputs[1]);
    const fb::TensorT& weight = *typed.model.tensors[index];
    if (!is_rounded(weight.type) || typed.constants[index]->embedding) continue;
    const auto found = importance.find(tensor(typed, op->inputs[0]).name);
    const double* counts = found == importance.end() ? nullptr : found->second.data();
    targets.emplace(index,
                    Target{index, static_cast<size_t>(rows(weight)), static_cast<size_t>(width(weight)), counts});
  }
  std::vector<Target> result;
  result.reserve(targets.size());
  for (const auto& [index, target] : targets) result.push_back(target);
  return result;
}

struct PrunedBlock {
  double score;
  uint32_t target;
  uint32_t block;
  bool operator<(const PrunedBlock& other) const {
    if (score != other.score) return score < other.score;
    return target != other.target ? target < other.target : block < other.block;
  }
};

/// Calls f(row, column) for each weight of a block.
template <class F>
void for_block(const Target& target, BlockShape shape, uint32_t block, const F& f) {
  const size_t across = (target.columns + shape.columns - 1) / shape.columns;
  const size_t row = block / across * shape.rows;
  const size_t column = block % across * shape.columns;
  for (size_t r = row; r < std::min(row + shape.rows, target.rows); ++r) {
    for (size_t c = column; c < std::min(column + shape.columns, target.columns); ++c) f(r, c);
  }
}

double score_of(const Target& target, size_t r, size_t c) {
  const double w = target.values[r * target.columns + c];
  return w * w * (target.importance == nullptr ? 1.0 : target.importance[c]);
}

void add_blocks(const Target& target, uint32_t number, BlockShape shape, std::vector<PrunedBlock>* blocks) {
  const size_t across = (target.columns + shape.columns - 1) / shape.columns;
  const size_t count = (target.rows + shape.rows - 1) / shape.rows * across;
  for (uint32_t block = 0; block < count; ++block) {
    double score = 0;
    for_block(target, shape, block, [&](size_t r, size_t c) { score += score_of(target, r, c); });
    blocks->push_back({score, number, block});
  }
}

/// Sets the fraction `share` of `blocks` with the lowest scores to 0.
void remove_least(const std::vector<Target>& targets, BlockShape shape, double share,
                  std::vector<PrunedBlock>* blocks) {
  const auto count = static_cast<size_t>(std::ceil(share * static_cast<double>(blocks->size()) - 1e-9));
  if (count < blocks->size()) {
    std::nth_element(blocks->begin(), blocks->begin() + static_cast<ptrdiff_t>(count), blocks->end());
  }
  for (size_t i = 0; i < count; ++i) {
    const Target& target = targets[(*blocks)[i].target];
    for_block(target, shape, (*blocks)[i].block,
              [&](size_t r, size_t c) { target.values[r * target.columns + c] = 0; });
  }
}

/// Sets the two smaller weights of every four in each row to 0.
void prune_2of4(const Target& target) {
  for (size_t r = 0; r < target.rows; ++r) {
    for (size_t c = 0; c < target.columns; c += 4) {
      std::vector<std::pair<double, size_t>> four;
      for (size_t i = c; i < std::min(c + 4, target.columns); ++i) four.emplace_back(score_of(target, r, i), i);
      std::sort(four.begin(), four.end());
      for (size_t i = 0; i < four.size() / 2; ++i) target.values[r * target.columns + four[i].second] = 0;
    }
  }
}

/// Prunes the fraction `share` of all targets together.
void prune_together(const std::vector<Target>& targets, PrunePattern pattern, double share) {
  if (pattern == PrunePattern::k2of4) {
    for (const Target& target : targets) prune_2of4(target);
    return;
  }
  const BlockShape shape = block_shape(pattern);
  std::vector<PrunedBlock> blocks;
  for (size_t i = 0; i < targets.size(); ++i) add_blocks(targets[i], static_cast<uint32_t>(i), shape, &blocks);
  remove_least(targets, shape, share, &blocks);
}

void prune_targets(const std::vector<Target>& targets, PrunePattern pattern, double share, PruneScope scope) {
  if (scope == PruneScope::kGlobal) return prune_together(targets, pattern, share);
  for (const Target& target : targets) prune_together({target}, pattern, share);
}

}  // namespace

const char* pattern_name(PrunePattern pattern) {
  static constexpr const char* kNames[] = {"unstructured", "1x4", "2:4", "4x16", "heads", "ffn"};
  return kNames[static_cast<size_t>(pattern)];
}

PrunePattern parse_zero_pattern(const std::string& name) {
  for (const PrunePattern pattern : kZeroPatterns) {
    if (name == pattern_name(pattern)) return pattern;
  }
  throw Error(ExitCode::kUsage, fmt::format("--pattern {}: there is no such pattern; 1x4 (four inputs of an output), "
                                            "4x16 (four inputs of 16 outputs), 2:4 and unstructured are known",
                                            name));
}

std::string prune_problem(const PruneOptions& options) {
  if (!(options.share >= 0) || options.share >= 1) {
    return fmt::format("--prune {}: the share to remove is at least 0 and below 1, such as 0.8", options.share);
  }
  if (options.share > 0 && options.pattern == PrunePattern::k2of4 && options.share != 0.5) {
    return fmt::format("--prune {} --pattern 2:4: two of four are 0.5; say --prune 0.5, or another pattern",
                       options.share);
  }
  return "";
}

void prune(Graph& graph, const PruneOptions& options, const TypeOptions& types, const InputMoments& moments) {
  if (const std::string problem = prune_problem(options); !problem.empty()) throw Error(ExitCode::kUsage, problem);
  if (!options.zeros()) return;
  hold_values(graph);
  const InputImportance importance = importance_of(moments);
  std::vector<Target> targets = find_targets(graph, types, importance);
  for (Target& target : targets) {
    auto copy = std::make_shared<Constant>(*graph.constants[target.tensor]);
    copy->rounded = nullptr;
    target.values = copy->values.data();
    graph.constants[target.tensor] = std::move(copy);
  }
  prune_targets(targets, options.pattern, options.share, options.scope);
}

void prune_matrices(const std::vector<PrunedMatrix>& matrices, PrunePattern pattern, double share, PruneScope scope) {
  if (share <= 0) return;
  std::vector<Target> targets;
  targets.reserve(matrices.size());
  for (const PrunedMatrix& m : matrices) targets.push_back({targets.size(), m.rows, m.columns, nullptr, m.values});
  prune_targets(targets, pattern, share, scope);
}

}  // namespace bantam::convert
