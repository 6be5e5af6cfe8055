// Steps. A step runs all its ops tile by tile; between two steps stands a barrier. An op must wait for a
// barrier when it reads rows of a tensor that other tiles write (keys, values, pooling) or when its rows are
// counted by another symbol than its producer's. The number of barriers before an op is therefore the
// longest chain of such edges behind it; ops with the same number and the same symbol form one step.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/error.h"
#include "pack/access.h"
#include "pack/lower.h"

namespace bantam::convert {
namespace {

int32_t row_symbol(const Graph& graph, const fb::OpT& op) {
  for (const int32_t output : op.outputs) {
    if (output >= 0) return tensor(graph, output).shape.front().symbol();
  }
  throw Error(ExitCode::kInternal, "op " + op.name + " writes nothing");
}

}  // namespace

void make_steps(Graph& graph) {
  fb::SubgraphT& subgraph = main_subgraph(graph);
  const std::vector<int32_t> producer = producers(graph);
  const size_t count = subgraph.ops.size();
  std::vector<std::pair<uint32_t, int32_t>> key(count);  // barriers before the op, its row symbol
  for (size_t i = 0; i < count; ++i) {
    const fb::OpT& op = *subgraph.ops[i];
    key[i] = {0, row_symbol(graph, op)};
    for_each_read(op, [&](int32_t read) {
      const int32_t from = producer[static_cast<size_t>(read)];
      if (from < 0) return;
      if (static_cast<size_t>(from) >= i) throw Error(ExitCode::kInternal, "op " + op.name + " reads ahead");
      const auto& before = key[static_cast<size_t>(from)];
      const bool barrier = reads_all_rows(op, read) || before.second != key[i].second;
      key[i].first = std::max(key[i].first, before.first + (barrier ? 1 : 0));
    });
  }
  std::map<std::pair<uint32_t, int32_t>, std::vector<std::unique_ptr<fb::OpT>>> steps;
  for (size_t i = 0; i < count; ++i) steps[key[i]].push_back(std::move(subgraph.ops[i]));
  subgraph.ops.clear();
  subgraph.steps.clear();
  for (auto& [order, ops] : steps) {
    auto step = std::make_unique<fb::StepT>();
    step->first_op = static_cast<uint32_t>(subgraph.ops.size());
    step->op_count = static_cast<uint32_t>(ops.size());
    step->rows = order.second;
    subgraph.steps.push_back(std::move(step));
    for (auto& op : ops) subgraph.ops.push_back(std::move(op));
  }
}

}  // namespace bantam::convert
