// Attributes a file's bytes to its components.
#ifndef BANTAM_CONVERTER_DESCRIBE_COMPONENTS_H_
#define BANTAM_CONVERTER_DESCRIBE_COMPONENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/model.h"
#include "graph/graph.h"

namespace bantam::convert {

/// The purpose of bytes. Legends use this order.
enum class Purpose {
  kEmbedding,
  kAttention,
  kFeedForward,
  kVectors,  // norms, biases, and other operands of operators that are not matrices
  kHead,
  kTokenizer,
  kLabels,
  kGraph,  // operators, tensors, memory plan, names, provenance, header
  kPadding,
  kRecurrent,
};
constexpr size_t kPurposes = 10;
const char* purpose_name(Purpose purpose);

/// The part of the network that owns an operator's constants.
struct Owner {
  std::string group;  // "embeddings", "layer 0", ..., "heads"
  Purpose purpose = Purpose::kHead;
};

struct Component {
  std::string group;  // an Owner's group, or "tokenizer", "labels", "graph", "padding"
  std::string name;   // unique in its group, such as "self.qkv": the source's name without what the group already says
  Purpose purpose = Purpose::kHead;
  uint64_t bytes = 0;  // greater than 0
};

/// Returns the file's components. Every byte belongs to exactly one, so their sizes add up to model.size(). Bytes that
/// several tensors share count for the first operator that reads them. Bytes that nothing refers to are padding.
std::vector<Component> file_components(const Model& model);

/// Returns the tables of an open file as the converter's graph, whose constants have no values.
Graph graph_of(const Model& model);

/// Returns, for each tensor of graph_of(model), the owner of its first reader. The group is empty for a tensor that is
/// not constant or that nothing reads.
std::vector<Owner> tensor_owners(const Graph& graph);

/// Returns a tensor's name without model, layer and ".weight": "self.qkv" for
/// "bert.encoder.layer.0.attention.self.qkv.weight".
std::string short_name(const std::string& tensor);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_COMPONENTS_H_
