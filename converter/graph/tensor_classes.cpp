#include "graph/tensor_classes.h"

#include "graph/access.h"
#include "ops/matrices.h"

namespace bantam::convert {

namespace {

/// Returns the class of the matrices by which operators of this part multiply.
const char* class_of(fb::Part part) {
  switch (part) {
    case fb::Part::embeddings:
      return "embeddings";
    case fb::Part::attention:
      return "attention";
    case fb::Part::feed_forward:
      return "ffn";
    case fb::Part::recurrent:
      return "recurrent";
    default:
      return "heads";
  }
}

}  // namespace

fb::Tag tag_of(const fb::OpT& op) { return op.tag == nullptr ? fb::Tag(-1, fb::Part::none, 0, 0) : *op.tag; }

std::vector<int32_t> multiplied_by(const fb::OpT& op) {
  std::vector<int32_t> matrices;
  const uint32_t row = ops::find_row(op.attributes.type, op.numerics);
  const fb::KeySumsT* sums = op.attributes.AsKeySums();
  const bool by_places =
      // Looks up rows of a matrix instead of multiplying by it.
      sums != nullptr && sums->kind == fb::FeatureKind::places;
  for (uint32_t i = 0; row != linked::kOps && !by_places && i < op.inputs.size() && i < ops::kFacts[row].inputs; ++i) {
    if ((ops::kMatrices[row] >> i & 1u) != 0 && op.inputs[i] >= 0) matrices.push_back(op.inputs[i]);
  }
  if (const fb::AttentionT* attention = op.attributes.AsAttention()) {
    for (const int8_t position : {attention->place_keys, attention->place_queries}) {
      if (position >= 0) matrices.push_back(named_input(op, position));
    }
  }
  return matrices;
}

void tag_constants(Graph& graph) {
  for (const auto& op : main_subgraph(graph).ops) {
    for_each_read(*op, [&](int32_t t) {
      fb::TensorT& read = tensor(graph, t);
      if (is_constant(graph, t) && read.tag == nullptr) read.tag = std::make_unique<fb::Tag>(tag_of(*op));
    });
  }
}

std::vector<std::string> tensor_classes(const Graph& graph) {
  std::vector<std::string> classes(graph.model.tensors.size());
  const auto name = [&](int32_t t, const char* value) {
    if (is_constant(graph, t) && classes[static_cast<size_t>(t)].empty()) classes[static_cast<size_t>(t)] = value;
  };
  for (const auto& op : main_subgraph(graph).ops) {
    for (const int32_t table : tables_of(*op)) name(table, "embeddings");
    for (const int32_t matrix : multiplied_by(*op)) name(matrix, class_of(tag_of(*op).part()));
    if (op->attributes.type == fb::OpAttributes::KeySums) {  // including sums by positions
      for (const size_t i : {size_t{1}, size_t{2}}) name(op->inputs[i], class_of(tag_of(*op).part()));
    }
    for_each_read(*op, [&](int32_t t) { name(t, "norms and biases"); });
  }
  return classes;
}

}  // namespace bantam::convert
