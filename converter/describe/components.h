// Attributes a file's bytes to its components.
#ifndef BANTAM_CONVERTER_DESCRIBE_COMPONENTS_H_
#define BANTAM_CONVERTER_DESCRIBE_COMPONENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/model.h"
#include "graph/graph.h"

namespace bantam::convert {

/// The purpose of bytes; legends use this order.
enum class Purpose {
  kEmbedding,
  kAttention,
  kFeedForward,
  kVectors,  // norms, biases, and what else operators read that is no matrix
  kHead,
  kTokenizer,
  kLabels,
  kGraph,  // operators, tensors, plan, names, provenance, header
  kPadding,
  kRecurrent,
};
constexpr size_t kPurposes = 10;
const char* purpose_name(Purpose purpose);

/// The owner of an operator's constants.
struct Owner {
  std::string group;  // "embeddings", "layer 0", ..., "heads"
  Purpose purpose = Purpose::kHead;
};

struct Component {
  std::string group;  // of an Owner, or "tokenizer", "labels", "graph", "padding"
  std::string name;  // unique in its group, such as "self.qkv": what of the source's name says more than the group does
  Purpose purpose = Purpose::kHead;
  uint64_t bytes = 0;  // positive
};

/// The file's components: every byte belongs to one, so that they add up to model.size(). Bytes that several tensors
/// share count with the first operator that reads them. Bytes that nothing names are padding.
std::vector<Component> file_components(const Model& model);

/// Returns the tables of an open file as the converter's graph; its constants hold no values.
Graph graph_of(const Model& model);

/// Returns, for each tensor of graph_of(model), the owner of its first reader. A tensor that is not constant, or that
/// nothing reads, has an empty group.
std::vector<Owner> tensor_owners(const Graph& graph);

/// "self.qkv" of "bert.encoder.layer.0.attention.self.qkv.weight": without model, layer and ".weight".
std::string short_name(const std::string& tensor);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DESCRIBE_COMPONENTS_H_
