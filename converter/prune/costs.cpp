#include "prune/costs.h"

#include <algorithm>

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

double least_zero_blocks(uint32_t tokens, uint32_t inputs, const std::string& isa) {
  const auto& costs = isa == helium_costs().front().isa ? helium_costs() : sparse_costs();
  const bool known = std::any_of(costs.begin(), costs.end(), [&](const SparseCost& cost) { return isa == cost.isa; });
  // What is measured for fewer tokens or inputs is less favourable, and holds.
  const auto at_most = [&](uint32_t SparseCost::*field, uint32_t value) {
    uint32_t best = UINT32_MAX;
    uint32_t least = UINT32_MAX;
    for (const SparseCost& cost : costs) {
      least = std::min(least, cost.*field);
      if (cost.*field <= value && (best == UINT32_MAX || cost.*field > best)) best = cost.*field;
    }
    return best == UINT32_MAX ? least : best;
  };
  const uint32_t row = at_most(&SparseCost::tokens, tokens);
  const uint32_t column = at_most(&SparseCost::inputs, inputs);
  double share = 0;
  for (const SparseCost& cost : costs) {
    if (cost.tokens != row || cost.inputs != column || (known && isa != cost.isa)) continue;
    share = std::max(share, cost.break_even);
  }
  // Fewer tokens than were measured: not known to be faster.
  return tokens < row ? 2.0 : share;
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
    decided->sparse_above = options.sparse == Sparse::kAlways ? -1 : least_zero_blocks(options.typical_tokens, inputs);
    slot = std::move(decided);
  }
}

}  // namespace bantam::convert
