#include "graph/access.h"

#include <algorithm>
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

bool is_weight_matrix(const Graph& graph, size_t index) {
  const Constant* constant = graph.constants[index].get();
  return constant != nullptr && graph.model.tensors[index]->shape.size() >= 2 &&
         (constant->linear_weight || constant->embedding);
}

uint64_t width(const fb::TensorT& tensor) { return tensor.shape.empty() ? 0 : fixed(tensor.shape.back()); }

uint64_t rows(const fb::TensorT& tensor) {
  uint64_t product = 1;
  for (size_t i = 0; i + 1 < tensor.shape.size(); ++i) product *= fixed(tensor.shape[i]);
  return product;
}

namespace {

uint32_t row_of(const fb::OpT& op) {
  const bool known = op.version == 1 && op.features.empty();
  return known ? ops::find_row(op.attributes.type, op.numerics) : uint32_t{linked::kOps};
}

/// Visits each field of the op that refers to an input by position; ops::for_each_position does the same for an op in a
/// file.
template <class Visit>
void for_each_position(fb::OpT& op, const Visit& visit) {
  if (fb::EmbedT* embed = op.attributes.AsEmbed()) {
    for (auto& table : embed->tables) {
      visit(table->tensor);
      visit(table->multiplier);
    }
  }
  if (fb::SplitHeadsT* split = op.attributes.AsSplitHeads()) {
    visit(split->rotary);
    visit(split->norms);
  }
  if (fb::AttentionT* attention = op.attributes.AsAttention()) {
    visit(attention->distance_bias);
    visit(attention->slopes);
    for (int8_t* position : {&attention->place_rows, &attention->place_keys, &attention->place_queries,
                             &attention->segment_keys, &attention->random_blocks, &attention->sinks}) {
      visit(*position);
    }
  }
  if (fb::ExpertsT* experts = op.attributes.AsExperts()) {
    for (int8_t* position : {&experts->choice_bias, &experts->up_bias, &experts->down_bias}) visit(*position);
  }
  if (fb::EpilogueT* e = op.epilogue.get()) {
    for (int8_t* position : {&e->gate, &e->residual, &e->gamma, &e->beta, &e->smooth}) visit(*position);
  }
  if (fb::IntegerT* n = op.integer.get()) {
    for (int8_t* position : {&n->multiplier, &n->table, &n->residual_multiplier}) visit(*position);
  }
}

}  // namespace

void name_input(fb::OpT& op, int8_t& position, int32_t tensor) {
  if (tensor >= 0 && position >= 0) {
    op.inputs[static_cast<size_t>(position)] = tensor;
  } else if (tensor >= 0) {
    const uint32_t row = row_of(op);
    const size_t own = row == linked::kOps ? 0 : ops::kFacts[row].inputs;
    if (op.inputs.size() < own) op.inputs.resize(own, -1);
    if (op.inputs.size() > INT8_MAX) throw Error(ExitCode::kInternal, op.name + " reads too many tensors");
    position = static_cast<int8_t>(op.inputs.size());
    op.inputs.push_back(tensor);
  } else if (position >= 0) {
    const int8_t gone = position;
    op.inputs.erase(op.inputs.begin() + gone);
    for_each_position(op, [gone](int8_t& other) {
      if (other == gone) {
        other = -1;
      } else if (other > gone) {
        --other;
      }
    });
    position = -1;
  }
}

std::vector<int32_t> tables_of(const fb::OpT& op) {
  std::vector<int32_t> tensors;
  if (const fb::EmbedT* embed = op.attributes.AsEmbed()) {
    for (const auto& table : embed->tables) tensors.push_back(named_input(op, table->tensor));
  }
  return tensors;
}

EpilogueSpec epilogue_of(const fb::OpT& op) {
  EpilogueSpec spec;
  if (op.epilogue == nullptr) return spec;
  const fb::EpilogueT& e = *op.epilogue;
  spec.activation = e.activation;
  spec.gate = named_input(op, e.gate);
  spec.residual = named_input(op, e.residual);
  spec.norm = e.norm;
  spec.gamma = named_input(op, e.gamma);
  spec.beta = named_input(op, e.beta);
  spec.epsilon = e.epsilon;
  spec.smooth = named_input(op, e.smooth);
  spec.store_sum = e.store_sum;
  return spec;
}

void set_epilogue(fb::OpT& op, const EpilogueSpec& spec) {
  if (op.epilogue == nullptr) op.epilogue = std::make_unique<fb::EpilogueT>();
  fb::EpilogueT& e = *op.epilogue;
  e.activation = spec.activation;
  e.norm = spec.norm;
  e.epsilon = spec.epsilon;
  e.store_sum = spec.store_sum;
  name_input(op, e.gate, spec.gate);
  name_input(op, e.residual, spec.residual);
  name_input(op, e.gamma, spec.gamma);
  name_input(op, e.beta, spec.beta);
  name_input(op, e.smooth, spec.smooth);
}

void for_each_read(fb::OpT& op, const std::function<void(int32_t&)>& visit) {
  for (int32_t& input : op.inputs) {
    if (input >= 0) visit(input);
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
  if (makes_terms(op) && op.inputs.front() == input) return true;
  const uint32_t row = row_of(op);
  const uint32_t whole = row == linked::kOps ? 0 : ops::kFacts[row].whole;
  for (size_t i = 0; i < op.inputs.size() && i < 8; ++i) {
    if ((whole >> i & 1u) != 0 && op.inputs[i] == input) return true;
  }
  return false;
}

bool reads_before(const fb::OpT& op, int32_t input) {
  return op.attributes.type == fb::OpAttributes::Previous && op.inputs.front() == input;
}

std::vector<bool> ops_by_tokens(const Graph& graph) {
  const auto& ops = main_subgraph(graph).ops;
  const std::vector<int32_t> producer = producers(graph);
  size_t first = ops.size(), last = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i]->attributes.type != fb::OpAttributes::Previous) continue;
    first = std::min(first, i);
    last = std::max(last, static_cast<size_t>(producer[static_cast<size_t>(ops[i]->inputs.front())]));
  }
  std::vector<bool> out(ops.size(), false);
  for (size_t i = first; i < ops.size() && i <= last; ++i) out[i] = phase_of(*ops[i]) == fb::Phase::main;
  return out;
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
  if (graph.model.task != nullptr && graph.model.task->shortlist != nullptr) {
    moved[graph.model.task->shortlist->lists.get()] = copy.model.task->shortlist->lists.get();
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

const std::vector<uint8_t>* blob_bytes(const Graph& graph, const fb::TokenizerT& tokenizer, fb::BlobName name) {
  for (const auto& blob : tokenizer.blobs) {
    if (blob->name != name) continue;
    for (const RawBlob& raw : graph.blobs) {
      if (raw.target == blob->data.get()) return &raw.bytes;
    }
  }
  return nullptr;
}

}  // namespace bantam::convert
