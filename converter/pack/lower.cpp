#include "pack/lower.h"

#include <map>
#include <string>
#include <vector>

#include "graph/access.h"
#include "quantize/types.h"

namespace bantam::convert {

void merge_tied(Graph& graph) {
  const size_t count = graph.model.tensors.size();
  std::map<const Constant*, size_t> first;
  std::vector<int32_t> map(count);
  std::vector<bool> keep(count, true);
  for (size_t i = 0; i < count; ++i) {
    map[i] = static_cast<int32_t>(i);
    if (!graph.constants[i]) continue;
    const auto [entry, inserted] = first.emplace(graph.constants[i].get(), i);
    if (inserted) continue;
    map[i] = static_cast<int32_t>(entry->second);
    keep[i] = false;
    fb::TensorT& kept = *graph.model.tensors[entry->second];
    const fb::TensorT& gone = *graph.model.tensors[i];
    if (kept.source.empty()) kept.source.push_back(kept.name);
    if (gone.source.empty()) kept.source.push_back(gone.name);
    for (const std::string& name : gone.source) {
      bool known = false;
      for (const std::string& other : kept.source) known = known || other == name;
      if (!known) kept.source.push_back(name);
    }
  }
  remap_tensors(graph, map, keep);
}

namespace {

bool is_q8_linear(const Graph& graph, const fb::OpT& op) {
  return op.attributes.type == fb::OpAttributes::Linear && is_integer(tensor(graph, op.inputs[1]).type);
}

/// Adds the i8 form of f32 activation `x` (same shape, one scale per row), which no op writes yet.
int32_t add_quantized_copy(Graph& graph, int32_t x) {
  fb::TensorT copy(tensor(graph, x));
  copy.name += ".i8";
  copy.type = fb::DType::i8;
  copy.role = fb::Role::activation;
  copy.scale_kind = fb::ScaleKind::per_row;
  return add_tensor(graph, std::move(copy));
}

void quantize_heads(Graph& graph, fb::OpT& split) {
  for (const int32_t output : split.outputs) {
    if (output < 0) continue;
    fb::TensorT& part = tensor(graph, output);
    part.type = fb::DType::i8;
    part.scale_kind = fb::ScaleKind::per_row_head;
  }
  if (split.outputs[0] < 0) return;
  fb::TensorT& query = tensor(graph, split.outputs[0]);
  query.layout = fb::Layout::head_rows;
  query.heads = split.attributes.AsSplitHeads()->heads;
}

/// Makes queries and keys from different splits that attend to each other either both i8, or neither.
void agree_on_heads(Graph& graph, std::vector<bool>& integer, const std::vector<int32_t>& producer) {
  const auto split_of = [&](int32_t t) { return static_cast<size_t>(producer[static_cast<size_t>(t)]); };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& op : main_subgraph(graph).ops) {
      if (op->attributes.type != fb::OpAttributes::Attention) continue;
      const size_t q = split_of(op->inputs[0]), k = split_of(op->inputs[1]);
      if (integer[q] == integer[k]) continue;
      integer[q] = integer[k] = false;
      changed = true;
    }
  }
}

void drop_unread_outputs(Graph& graph) {
  std::vector<bool> read(graph.model.tensors.size(), false);
  for (const auto& op : main_subgraph(graph).ops) {
    for_each_read(*op, [&](int32_t t) { read[static_cast<size_t>(t)] = true; });
  }
  for (const auto& output : graph.model.outputs) read[static_cast<size_t>(output->tensor)] = true;
  for (auto& op : main_subgraph(graph).ops) {
    // Ops that run over sequences collect their rows as f32, with one exception: a recurrent layer stores no rows if
    // only a source's last state is read.
    const bool recurrent = op->attributes.type == fb::OpAttributes::Recurrent;
    const bool alone = recurrent && phase_of(*op) == fb::Phase::source && op->outputs.size() > 2 && op->outputs[1] < 0;
    if (alone && !read[static_cast<size_t>(op->outputs[0])]) op->outputs[0] = -1;
    if (op->outputs.size() != 2 || op->outputs[1] < 0 || runs_over_sequences(*op)) continue;
    if (op->outputs[0] >= 0 && !read[static_cast<size_t>(op->outputs[0])]) op->outputs[0] = -1;
  }
}

/// Returns true for an op that writes f32 rows alone.
bool is_scan(const fb::OpT& op) { return op.attributes.type == fb::OpAttributes::Scan; }

/// Adds ops that copy outputs other than the rows, and rows of scans, directly after the op that writes them.
void copy_further_outputs(Graph& graph, const std::map<int32_t, int32_t>& copies) {
  auto& ops = main_subgraph(graph).ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i]->attributes.type != fb::OpAttributes::Recurrent && !is_scan(*ops[i])) continue;
    const size_t first = is_scan(*ops[i]) ? 0 : 2;
    for (size_t k = ops[i]->outputs.size(); k-- > first;) {
      const auto copy = copies.find(ops[i]->outputs[k]);
      if (copy == copies.end()) continue;
      auto row = std::make_unique<fb::OpT>();
      row->name = tensor(graph, copy->second).name;
      row->inputs = {copy->first};
      row->outputs = {-1, copy->second};
      row->attributes.Set(fb::RowT{});
      set_epilogue(*row, {});
      if (ops[i]->tag != nullptr) row->tag = std::make_unique<fb::Tag>(*ops[i]->tag);
      ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(row));
    }
  }
}

/// Marks the tensors of the residual stream: those added to the result of a later op, and the sums.
std::vector<bool> residual_stream(const Graph& graph) {
  std::vector<bool> stream(graph.model.tensors.size(), false);
  for (const auto& op : main_subgraph(graph).ops) {
    const int32_t residual = epilogue_of(*op).residual;
    if (residual < 0) continue;
    stream[static_cast<size_t>(residual)] = true;
    if (op->outputs[0] >= 0) stream[static_cast<size_t>(op->outputs[0])] = true;
  }
  return stream;
}

}  // namespace

void quantize_activations(Graph& graph, fb::DType residual) {
  auto& ops = main_subgraph(graph).ops;
  const std::vector<int32_t> producer = producers(graph);
  std::map<int32_t, int32_t> copies;  // f32 tensor: its i8 form
  for (auto& op : ops) {
    if (op->outputs.size() < 2 && !is_scan(*op)) op->outputs.resize(2, -1);
  }
  std::vector<bool> integer_heads(ops.size(), false);
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto& op = ops[i];
    if (is_q8_linear(graph, *op)) {
      const int32_t x = op->inputs[0];
      if (copies.count(x) == 0) copies[x] = add_quantized_copy(graph, x);
    } else if (op->attributes.type == fb::OpAttributes::SplitHeads) {
      const int32_t from = producer[static_cast<size_t>(op->inputs[0])];
      integer_heads[i] = from >= 0 && is_q8_linear(graph, *ops[static_cast<size_t>(from)]);
    }
  }
  agree_on_heads(graph, integer_heads, producer);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (integer_heads[i]) quantize_heads(graph, *ops[i]);
  }
  if (residual == fb::DType::i8) {
    const std::vector<bool> stream = residual_stream(graph);
    for (size_t t = 0; t < stream.size(); ++t) {
      const auto index = static_cast<int32_t>(t);
      if (stream[t] && copies.count(index) == 0) copies[index] = add_quantized_copy(graph, index);
    }
    for (auto& op : ops) {
      const int32_t added = epilogue_of(*op).residual;
      if (added >= 0) name_input(*op, op->epilogue->residual, copies.at(added));
      const bool pools = op->attributes.type == fb::OpAttributes::Pool;
      if (pools && copies.count(op->inputs[0]) != 0) op->inputs[0] = copies.at(op->inputs[0]);
    }
  }
  copy_further_outputs(graph, copies);
  for (auto& op : ops) {
    if (is_q8_linear(graph, *op)) op->inputs[0] = copies.at(op->inputs[0]);
    const auto copy = copies.find(op->outputs[0]);
    if (copy != copies.end() && !is_scan(*op)) op->outputs[1] = copy->second;
  }
  drop_unread_outputs(graph);
}

}  // namespace bantam::convert
