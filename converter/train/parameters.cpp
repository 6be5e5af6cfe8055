#include "train/parameters.h"

#include <algorithm>

#include "graph/access.h"
#include "graph/rows.h"
#include "source/checkpoint.h"
#include "source/model_source.h"
#include "source/weights.h"

namespace bantam::train {
namespace {

/// Returns the number of operators up to the last one of the encoder. The others are the head.
size_t encoder_ops(const fb::SubgraphT& subgraph) {
  size_t end = 0;
  for (size_t i = 0; i < subgraph.ops.size(); ++i) {
    const fb::OpT& op = *subgraph.ops[i];
    const fb::Part part = op.tag == nullptr ? fb::Part::none : op.tag->part();
    if (part == fb::Part::embeddings || part == fb::Part::attention || part == fb::Part::feed_forward) end = i + 1;
  }
  return end;
}

/// Returns the bytes of a tensor that is not trained, as they are in its file.
convert::TensorBytes copied(const convert::Checkpoint& checkpoint, const std::string& name) {
  const convert::Checkpoint::Entry& entry = checkpoint.tensors().at(name);
  return {entry.stored->dtype, entry.stored->shape, checkpoint.files()[entry.file]->read_bytes(name)};
}

/// Marks the ops of an encoder-decoder's encoder: all ops of the pass over the source, except those that compute the
/// decoder's keys and values from its rows.
std::vector<bool> source_ops(const convert::Graph& graph) {
  const fb::SubgraphT& subgraph = *graph.model.subgraphs.front();
  const std::vector<int32_t> writers = convert::producers(graph);
  std::vector<bool> out;
  for (const auto& op : subgraph.ops) out.push_back(convert::phase_of(*op) == fb::Phase::source);
  for (const auto& op : subgraph.ops) {
    const bool leaves = std::any_of(op->outputs.begin(), op->outputs.end(), [&](int32_t tensor) {
      return tensor >= 0 && convert::is_state(convert::tensor(graph, tensor));
    });
    if (!leaves) continue;
    const int32_t writer = writers[static_cast<size_t>(op->inputs[0])];
    if (writer >= 0) out[static_cast<size_t>(writer)] = false;
  }
  return out;
}

/// Returns true if two stored tensors had the same values before training: tied matrices that a file stores twice.
bool was_the_same(const convert::Checkpoint& checkpoint, const std::string& name, const std::string& trained) {
  const convert::StoredTensor &a = *checkpoint.tensors().at(name).stored, &b = *checkpoint.tensors().at(trained).stored;
  return a.shape.size() == 2 && a.shape == b.shape && checkpoint.read(name) == checkpoint.read(trained);
}

}  // namespace

Parameters::Parameters(const convert::Graph& graph, const convert::WaysBack& ways) {
  const std::vector<bool> of_source = source_ops(graph);
  pair_ = std::find(of_source.begin(), of_source.end(), true) != of_source.end();
  const fb::SubgraphT& subgraph = *graph.model.subgraphs.front();
  const size_t encoder = encoder_ops(subgraph);
  for (size_t i = 0; i < subgraph.ops.size(); ++i) {
    for (const int32_t tensor : subgraph.ops[i]->inputs) {
      if (tensor < 0) continue;
      if (const auto found = index_.find(tensor); found != index_.end()) {
        all_[found->second].of_source = all_[found->second].of_source || of_source[i];
        continue;
      }
      const auto& constant = graph.constants[static_cast<size_t>(tensor)];
      if (!constant) continue;
      const fb::TensorT& described = *graph.model.tensors[static_cast<size_t>(tensor)];
      std::vector<int64_t> shape;
      for (const fb::Dim& dim : described.shape) shape.push_back(dim.b());
      Parameter parameter;
      parameter.name = described.name;
      if (const auto way = ways.find(tensor); way != ways.end()) parameter.stored = way->second;
      parameter.of_source = of_source[i];
      parameter.value = torch::empty(shape, torch::kFloat32);
      convert::copy_values(*constant, parameter.value.data_ptr<float>());
      const bool head = i >= encoder;
      parameter.role = constant->embedding       ? Role::kEmbedding
                       : constant->linear_weight ? (head ? Role::kHeadLinear : Role::kEncoderLinear)
                                                 : (head ? Role::kHeadVector : Role::kEncoderVector);
      index_[tensor] = all_.size();
      all_.push_back(std::move(parameter));
    }
  }
}

void Parameters::trainable(Freeze freeze) {
  for (Parameter& parameter : all_) {
    const bool head = parameter.role == Role::kHeadLinear || parameter.role == Role::kHeadVector;
    const bool encoder = pair_ ? parameter.of_source : !head;
    const bool frozen =
        freeze == Freeze::kEncoder ? encoder : freeze == Freeze::kEmbeddings && parameter.role == Role::kEmbedding;
    parameter.value.set_requires_grad(!frozen && !parameter.stored.empty());
  }
}

std::map<std::string, convert::TensorBytes> source_tensors(const std::filesystem::path& directory,
                                                           const Parameters& parameters,
                                                           const std::vector<at::Tensor>& values,
                                                           const std::string& dtype) {
  const convert::Checkpoint checkpoint = convert::open_checkpoint(directory);
  std::map<std::string, convert::TensorBytes> out;
  for (size_t i = 0; i < values.size(); ++i) {
    const at::Tensor flat = values[i].detach().contiguous().reshape({-1});
    const float* next = flat.data_ptr<float>();
    for (const convert::StoredPart& way : parameters.all()[i].stored) {
      const convert::StoredTensor& stored = *checkpoint.tensors().at(way.name).stored;
      const std::vector<convert::StoredPart>& ways = parameters.all()[i].stored;
      const uint64_t count = ways.size() == 1 ? static_cast<uint64_t>(flat.numel()) : stored.elements;
      std::vector<float> part(next, next + count);
      next += count;
      for (size_t k = 0; k < way.beside.size(); ++k) part[k] -= way.beside[k];
      if (way.turned) part = convert::turned(part, static_cast<size_t>(stored.shape[1]));
      if (count < stored.elements) {
        std::vector<float> whole = checkpoint.read(way.name);
        std::copy(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(way.first));
        part = std::move(whole);
      }
      out[way.name] = convert::tensor_bytes(stored.shape, part, dtype.empty() ? stored.dtype : dtype);
    }
  }
  for (const auto& [name, entry] : checkpoint.tensors()) {
    if (out.count(name) != 0) continue;
    const auto same =
        std::find_if(parameters.all().begin(), parameters.all().end(), [&, &file_name = name](const Parameter& p) {
          return p.role == Role::kEmbedding && p.stored.size() == 1 &&
                 was_the_same(checkpoint, file_name, p.stored[0].name);
        });
    out[name] = same == parameters.all().end() ? copied(checkpoint, name) : out.at(same->stored[0].name);
  }
  return out;
}

}  // namespace bantam::train
