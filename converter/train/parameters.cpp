#include "train/parameters.h"

#include <cstring>

#include "import/source/checkpoint.h"

namespace bantam::train {
namespace {

/// Operators up to the last of the encoder. What comes after is the head.
size_t encoder_ops(const fb::SubgraphT& subgraph) {
  size_t end = 0;
  for (size_t i = 0; i < subgraph.ops.size(); ++i) {
    const fb::OpT& op = *subgraph.ops[i];
    const fb::Part part = op.tag == nullptr ? fb::Part::none : op.tag->part();
    if (part == fb::Part::embeddings || part == fb::Part::attention || part == fb::Part::feed_forward) end = i + 1;
  }
  return end;
}

/// Bytes of a tensor that nobody trains, as they lie in its file.
convert::TensorBytes copied(const convert::Checkpoint& checkpoint, const std::string& name) {
  const convert::Checkpoint::Entry& entry = checkpoint.tensors().at(name);
  return {entry.stored->dtype, entry.stored->shape, checkpoint.files()[entry.file]->read_bytes(name)};
}

}  // namespace

Parameters::Parameters(const convert::Graph& graph) {
  const fb::SubgraphT& subgraph = *graph.model.subgraphs.front();
  const size_t encoder = encoder_ops(subgraph);
  for (size_t i = 0; i < subgraph.ops.size(); ++i) {
    for (const int32_t tensor : subgraph.ops[i]->inputs) {
      if (tensor < 0 || index_.count(tensor) != 0) continue;
      const auto& constant = graph.constants[static_cast<size_t>(tensor)];
      if (!constant) continue;
      const fb::TensorT& described = *graph.model.tensors[static_cast<size_t>(tensor)];
      std::vector<int64_t> shape;
      for (const fb::Dim& dim : described.shape) shape.push_back(dim.b());
      Parameter parameter;
      parameter.name = described.name;
      parameter.source = described.source;
      parameter.value = torch::empty(shape, torch::kFloat32);
      std::memcpy(parameter.value.data_ptr<float>(), constant->values.data(), constant->values.size() * sizeof(float));
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
    const bool frozen =
        freeze == Freeze::kEncoder ? !head : freeze == Freeze::kEmbeddings && parameter.role == Role::kEmbedding;
    parameter.value.set_requires_grad(!frozen && !parameter.source.empty());
  }
}

std::map<std::string, convert::TensorBytes> source_tensors(const std::filesystem::path& directory,
                                                           const Parameters& parameters,
                                                           const std::vector<at::Tensor>& values,
                                                           const std::string& dtype) {
  const convert::Checkpoint checkpoint(directory);
  std::map<std::string, convert::TensorBytes> out;
  for (size_t i = 0; i < values.size(); ++i) {
    const at::Tensor flat = values[i].detach().contiguous().reshape({-1});
    const float* next = flat.data_ptr<float>();
    for (const std::string& name : parameters.all()[i].source) {
      const convert::StoredTensor& stored = *checkpoint.tensors().at(name).stored;
      const std::vector<float> part(next, next + stored.elements);
      next += stored.elements;
      out[name] = convert::tensor_bytes(stored.shape, part, dtype.empty() ? stored.dtype : dtype);
    }
  }
  for (const auto& [name, entry] : checkpoint.tensors()) {
    if (out.count(name) == 0) out[name] = copied(checkpoint, name);
  }
  return out;
}

}  // namespace bantam::train
