#include "graph/access.h"

#include <map>
#include <utility>

#include "base/error.h"
#include "ops/ops.h"

namespace bantam::convert {

const fb::SubgraphT& main_subgraph(const Graph& graph) {
  if (graph.model.subgraphs.size() != 1) {
    throw Error(ExitCode::kUnsupported, "models with several subgraphs cannot be packed by this version");
  }
  return *graph.model.subgraphs.front();
}

fb::SubgraphT& main_subgraph(Graph& graph) {
  return const_cast<fb::SubgraphT&>(main_subgraph(static_cast<const Graph&>(graph)));
}

uint64_t width(const fb::TensorT& tensor) { return tensor.shape.empty() ? 0 : fixed(tensor.shape.back()); }

uint64_t rows(const fb::TensorT& tensor) {
  uint64_t product = 1;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) product *= fixed(tensor.shape[i]);
  return product;
}

void for_each_read(fb::OpT& op, const std::function<void(int32_t&)>& visit) {
  const auto see = [&](int32_t& slot) {
    if (slot >= 0) visit(slot);
  };
  for (int32_t& input : op.inputs) see(input);
  if (op.tail) {
    see(op.tail->residual);
    see(op.tail->gamma);
    see(op.tail->beta);
    see(op.tail->smooth);
  }
  if (fb::EmbedT* embed = op.attributes.AsEmbed()) {
    for (auto& table : embed->tables) {
      see(table->tensor);
      see(table->multiplier);
    }
  }
  if (op.integer) {
    see(op.integer->multiplier);
    see(op.integer->table);
    see(op.integer->residual_multiplier);
  }
  if (fb::AttentionT* attention = op.attributes.AsAttention()) {
    for (auto& term : attention->terms) {
      see(term->query);
      see(term->key);
    }
    for (auto& bias : attention->biases) see(bias->tensor);
    see(attention->global_mask);
    for (int32_t& second : attention->second) see(second);
    for (int32_t& constant : attention->constants) see(constant);
  }
}

void for_each_read(const fb::OpT& op, const std::function<void(int32_t)>& visit) {
  for_each_read(const_cast<fb::OpT&>(op), std::function<void(int32_t&)>([&](int32_t& slot) { visit(slot); }));
}

void for_each_write(fb::OpT& op, const std::function<void(int32_t&)>& visit) {
  for (int32_t& output : op.outputs) {
    if (output >= 0) visit(output);
  }
}

void for_each_write(const fb::OpT& op, const std::function<void(int32_t)>& visit) {
  for_each_write(const_cast<fb::OpT&>(op), std::function<void(int32_t&)>([&](int32_t& slot) { visit(slot); }));
}

std::vector<int32_t> producers(const Graph& graph) {
  std::vector<int32_t> result(graph.model.tensors.size(), -1);
  const auto& ops = main_subgraph(graph).ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    for_each_write(*ops[i], [&](int32_t t) { result[static_cast<size_t>(t)] = static_cast<int32_t>(i); });
  }
  return result;
}

bool reads_all_rows(const fb::OpT& op, int32_t input) {
  const uint32_t row = ops::find_row(op.attributes.type, op.version, op.features.empty());
  const uint32_t whole = row == linked::kOps ? 0 : ops::kFacts[row].whole;
  for (size_t i = 0; i < op.inputs.size() && i < 8; ++i) {
    if ((whole >> i & 1u) != 0 && op.inputs[i] == input) return true;
  }
  return false;
}

int32_t add_tensor(Graph& graph, fb::TensorT tensor) {
  graph.model.tensors.push_back(std::make_unique<fb::TensorT>(std::move(tensor)));
  graph.constants.push_back(nullptr);
  return static_cast<int32_t>(graph.model.tensors.size() - 1);
}

namespace {

void for_each_reference(Graph& graph, const std::function<void(int32_t&)>& visit) {
  for (auto& subgraph : graph.model.subgraphs) {
    for (auto& op : subgraph->ops) {
      for_each_read(*op, visit);
      for_each_write(*op, visit);
    }
    for (auto* list : {&subgraph->inputs, &subgraph->outputs}) {
      for (int32_t& slot : *list) {
        if (slot >= 0) visit(slot);
      }
    }
  }
  for (auto& input : graph.model.inputs) {
    if (input->tensor >= 0) visit(input->tensor);
  }
  for (auto& output : graph.model.outputs) {
    if (output->tensor >= 0) visit(output->tensor);
  }
}

}  // namespace

void remap_tensors(Graph& graph, const std::vector<int32_t>& map, const std::vector<bool>& keep) {
  std::vector<int32_t> position(map.size(), -1);
  std::vector<std::unique_ptr<fb::TensorT>> tensors;
  std::vector<std::shared_ptr<Constant>> constants;
  for (size_t i = 0; i < map.size(); ++i) {
    if (!keep[i]) continue;
    position[i] = static_cast<int32_t>(tensors.size());
    tensors.push_back(std::move(graph.model.tensors[i]));
    constants.push_back(std::move(graph.constants[i]));
  }
  const auto target = [&](int32_t old) {
    const int32_t mapped = map[static_cast<size_t>(old)];
    return mapped < 0 ? -1 : position[static_cast<size_t>(mapped)];
  };
  for_each_reference(graph, [&](int32_t& slot) {
    slot = target(slot);
    if (slot < 0) throw Error(ExitCode::kInternal, "a removed tensor is still in use");
  });
  for (auto& kept : tensors) {
    if (kept->alias >= 0) kept->alias = target(kept->alias);
  }
  graph.model.tensors = std::move(tensors);
  graph.constants = std::move(constants);
}

std::vector<std::string> remove_unused_tensors(Graph& graph) {
  const size_t count = graph.model.tensors.size();
  std::vector<bool> used(count, false);
  std::vector<int32_t> same(count);
  for (size_t i = 0; i < count; ++i) same[i] = static_cast<int32_t>(i);
  for_each_reference(graph, [&](int32_t& slot) { used[static_cast<size_t>(slot)] = true; });
  std::vector<std::string> gone;
  for (size_t i = 0; i < count; ++i) {
    if (!used[i] && graph.constants[i]) gone.push_back(graph.model.tensors[i]->name);
  }
  remap_tensors(graph, same, used);
  return gone;
}

Graph clone(const Graph& graph) {
  Graph copy;
  copy.model = fb::ModelT(graph.model);
  copy.constants = graph.constants;
  copy.notes = graph.notes;
  std::map<const fb::Blob*, fb::Blob*> moved;
  for (size_t i = 0; i < graph.model.tokenizers.size(); ++i) {
    const auto& from = graph.model.tokenizers[i]->blobs;
    const auto& to = copy.model.tokenizers[i]->blobs;
    for (size_t k = 0; k < from.size(); ++k) moved[from[k]->data.get()] = to[k]->data.get();
  }
  for (const RawBlob& blob : graph.blobs) {
    const auto found = moved.find(blob.target);
    if (blob.target == nullptr || found == moved.end()) {
      throw Error(ExitCode::kInternal, "a stored blob belongs to no field of the model");
    }
    copy.blobs.push_back({found->second, blob.bytes});
  }
  return copy;
}

}  // namespace bantam::convert
