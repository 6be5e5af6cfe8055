#include "prune/costs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/access.h"

namespace bantam::convert {

const std::vector<SparseCost>& sparse_costs() {
  static const std::vector<SparseCost> kCosts = {
#include "prune/costs.inc"
  };
  return kCosts;
}

const std::vector<SparseCost>& helium_costs() {
  static const std::vector<SparseCost> kCosts = {
#include "prune/costs_helium.inc"
  };
  return kCosts;
}

namespace {

/// The costs of one instruction set of one core.
using Series = std::vector<SparseCost>;

std::vector<Series> series_of(const std::vector<SparseCost>& costs) {
  std::map<std::pair<std::string, std::string>, Series> found;
  for (const SparseCost& cost : costs) found[{cost.core, cost.isa}].push_back(cost);
  std::vector<Series> all;
  all.reserve(found.size());
  for (auto& entry : found) all.push_back(std::move(entry.second));
  return all;
}

/// The last rows of a core are those of its best instruction set.
const char* best_isa(const std::string& core) {
  const char* best = "";
  for (const SparseCost& cost : sparse_costs()) best = cost.core == core ? cost.isa : best;
  return best;
}

bool is_core(const std::string& target) {
  const auto& costs = sparse_costs();
  return std::any_of(costs.begin(), costs.end(), [&](const SparseCost& cost) { return cost.core == target; });
}

/// The largest measured number up to `wanted`, or the smallest of all.
uint32_t measured(const Series& series, uint32_t SparseCost::*field, uint32_t wanted) {
  uint32_t below = 0;
  uint32_t least = UINT32_MAX;
  for (const SparseCost& cost : series) {
    least = std::min(least, cost.*field);
    if (cost.*field <= wanted) below = std::max(below, cost.*field);
  }
  return std::max(below, least);
}

double least_zero_blocks(const Series& series, uint32_t tokens, uint32_t inputs) {
  const uint32_t row = measured(series, &SparseCost::tokens, tokens);
  const uint32_t column = measured(series, &SparseCost::inputs, inputs);
  if (tokens < row) return 2;
  const auto found = std::find_if(series.begin(), series.end(),
                                  [&](const SparseCost& cost) { return cost.tokens == row && cost.inputs == column; });
  return found == series.end() ? 2 : found->break_even;
}

}  // namespace

std::vector<std::string> sparse_targets() {
  std::vector<std::string> names;
  const auto add = [&](const char* name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const SparseCost& cost : sparse_costs()) add(cost.core);
  for (const SparseCost& cost : sparse_costs()) add(cost.isa);
  return names;
}

double least_zero_blocks(uint32_t tokens, uint32_t inputs, const std::string& target) {
  const std::string isa = is_core(target) ? best_isa(target) : target;
  double share = 0;
  for (const Series& series : series_of(sparse_costs())) {
    const SparseCost& kind = series.front();
    if (!target.empty() && (isa != kind.isa || (is_core(target) && target != kind.core))) continue;
    share = std::max(share, least_zero_blocks(series, tokens, inputs));
  }
  return share;
}

double least_zero_blocks_helium(uint32_t tokens, uint32_t inputs) {
  return least_zero_blocks(helium_costs(), tokens, inputs);
}

void choose_sparse(Graph& graph, const TypeOptions& options) {
  if (options.sparse == Sparse::kNever) return;
  for (const auto& op : main_subgraph(graph).ops) {
    if (op->attributes.type != fb::OpAttributes::Linear) continue;
    auto& slot = graph.constants[static_cast<size_t>(op->inputs[1])];
    if (tensor(graph, op->inputs[1]).type != fb::DType::i8 || slot->embedding) continue;
    auto decided = std::make_shared<Constant>(*slot);
    const auto inputs = static_cast<uint32_t>(width(tensor(graph, op->inputs[1])));
    decided->smallest = options.sparse == Sparse::kSmallest;
    decided->sparse_above =
        options.sparse == Sparse::kAlways ? -1 : least_zero_blocks(options.typical_tokens, inputs, options.target_cpu);
    slot = std::move(decided);
  }
}

}  // namespace bantam::convert
