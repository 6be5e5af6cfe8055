// Separates queries from keys and values. Importers create one linear layer for all three, but keys and values are
// needed for all rows before any row can attend, and queries only while their own rows do. So the layer is split in
// two: one for keys and values, and one for queries that runs in the attention's step and stores its result in a tile.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/access.h"
#include "graph/rows.h"
#include "pack/lower.h"

namespace bantam::convert {
namespace {

/// Outputs [begin, end) of a linear layer's weights or bias, as a new constant.
int32_t outputs_of(Graph& graph, int32_t whole, size_t begin, size_t end, const std::string& name) {
  const auto at = static_cast<size_t>(whole);
  const size_t all = static_cast<size_t>(fixed(graph.model.tensors[at]->shape.front()));
  fb::TensorT part(*graph.model.tensors[at]);
  part.name = name;
  part.shape.front() = fb::Dim(-1, 0, static_cast<int32_t>(end - begin), 1);
  part.source_bytes = part.source_bytes * (end - begin) / all;
  // Keep the names of the source that belong to the part, if each name stands for the same number of outputs.
  const size_t names = part.source.size();
  if (names != 0 && begin * names % all == 0 && end * names % all == 0) {
    const auto first = part.source.begin();
    part.source = {first + static_cast<std::ptrdiff_t>(begin * names / all),
                   first + static_cast<std::ptrdiff_t>(end * names / all)};
  }
  auto constant = std::make_shared<Constant>(*graph.constants[at]);
  const size_t columns = constant->values.size() / all;
  constant->values.assign(graph.constants[at]->values.begin() + static_cast<std::ptrdiff_t>(begin * columns),
                          graph.constants[at]->values.begin() + static_cast<std::ptrdiff_t>(end * columns));
  const int32_t index = add_tensor(graph, std::move(part));
  graph.constants[static_cast<size_t>(index)] = std::move(constant);
  return index;
}

/// "layer.0.qkv" and "query": "layer.0.query".
std::string part_name(const std::string& name, const char* part) {
  for (const std::string ending : {"qkv", "qkv_lin"}) {
    if (name.size() < ending.size() || name.compare(name.size() - ending.size(), ending.size(), ending) != 0) continue;
    return name.substr(0, name.size() - ending.size()) + part;
  }
  return name + "." + part;
}

bool has_no_epilogue(const fb::OpT& op) {
  const EpilogueSpec epilogue = epilogue_of(op);
  return epilogue.activation == fb::ActivationKind::none && epilogue.gate < 0 && epilogue.residual < 0 &&
         epilogue.norm == fb::NormKind::none;
}

class Splitter {
 public:
  explicit Splitter(Graph& graph) : graph_(graph), readers_(graph.model.tensors.size(), 0) {
    for (const auto& op : main_subgraph(graph).ops) {
      for_each_read(*op, [&](int32_t t) { ++readers_[static_cast<size_t>(t)]; });
    }
    for (const auto& output : graph.model.outputs) ++readers_[static_cast<size_t>(output->tensor)];
  }

  bool fits(const fb::OpT& linear, const fb::OpT& split) const {
    return linear.attributes.type == fb::OpAttributes::Linear && has_no_epilogue(linear) &&
           readers_[static_cast<size_t>(split.inputs[0])] == 1 && split.outputs[0] >= 0 && split.outputs[1] >= 0;
  }

  /// The four ops that replace these two.
  std::vector<std::unique_ptr<fb::OpT>> replace(const fb::OpT& linear, const fb::OpT& split) {
    const fb::SplitHeadsT& heads = *split.attributes.AsSplitHeads();
    const size_t queries = size_t{heads.heads} * heads.head_width;
    const size_t all = static_cast<size_t>(width(tensor(graph_, split.inputs[0])));
    std::vector<std::unique_ptr<fb::OpT>> ops;
    add(linear, split, "key_value", queries, all, 0, heads.kv_heads, ops);
    add(linear, split, "query", 0, queries, heads.heads, 0, ops);
    return ops;
  }

 private:
  void add(const fb::OpT& linear, const fb::OpT& split, const char* part, size_t begin, size_t end, uint32_t heads,
           uint32_t kv_heads, std::vector<std::unique_ptr<fb::OpT>>& ops) {
    auto one = std::make_unique<fb::OpT>(linear);
    one->name = part_name(linear.name, part);
    for (size_t i = 1; i < one->inputs.size(); ++i) {
      if (one->inputs[i] >= 0) one->inputs[i] = piece(one->inputs[i], begin, end, part);
    }
    fb::TensorT rows(tensor(graph_, split.inputs[0]));
    rows.name = one->name;
    rows.shape.back() = fb::Dim(-1, 0, static_cast<int32_t>(end - begin), 1);
    one->outputs = {add_tensor(graph_, std::move(rows)), -1};
    auto two = std::make_unique<fb::OpT>(split);
    two->name = split.name + "." + part;
    two->inputs[0] = one->outputs[0];
    fb::SplitHeadsT& attributes = *two->attributes.AsSplitHeads();
    attributes.heads = heads;
    attributes.kv_heads = kv_heads;
    if (heads == 0) two->outputs[0] = -1;
    if (kv_heads == 0) two->outputs[1] = two->outputs[2] = -1;
    ops.push_back(std::move(one));
    ops.push_back(std::move(two));
  }

  /// Returns a part of a constant; layers that share weights share the parts.
  int32_t piece(int32_t whole, size_t begin, size_t end, const char* part) {
    const auto [found, fresh] = pieces_.emplace(std::make_pair(whole, begin), -1);
    if (fresh) {
      std::string name = tensor(graph_, whole).name;
      const size_t dot = name.rfind('.');
      name = dot == std::string::npos ? name + "." + part : part_name(name.substr(0, dot), part) + name.substr(dot);
      found->second = outputs_of(graph_, whole, begin, end, name);
    }
    return found->second;
  }

  Graph& graph_;
  std::vector<uint32_t> readers_;
  std::map<std::pair<int32_t, size_t>, int32_t> pieces_;
};

}  // namespace

void split_queries(Graph& graph) {
  hold_values(graph);
  auto& ops = main_subgraph(graph).ops;
  const std::vector<int32_t> producer = producers(graph);
  Splitter splitter(graph);
  std::vector<std::vector<std::unique_ptr<fb::OpT>>> replaced(ops.size());
  std::vector<bool> gone(ops.size(), false);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i]->attributes.type != fb::OpAttributes::SplitHeads) continue;
    const int32_t from = producer[static_cast<size_t>(ops[i]->inputs[0])];
    if (from < 0 || !splitter.fits(*ops[static_cast<size_t>(from)], *ops[i])) continue;
    replaced[i] = splitter.replace(*ops[static_cast<size_t>(from)], *ops[i]);
    gone[i] = gone[static_cast<size_t>(from)] = true;
  }
  std::vector<std::unique_ptr<fb::OpT>> result;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!gone[i]) result.push_back(std::move(ops[i]));
    for (auto& op : replaced[i]) result.push_back(std::move(op));
  }
  ops = std::move(result);
  remove_unused_tensors(graph);
}

}  // namespace bantam::convert
