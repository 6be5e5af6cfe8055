#include "describe/components.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "format/header.h"
#include "format/view.h"
#include "graph/access.h"
#include "graph/tensor_classes.h"
#include "model/shortlist.h"

namespace bantam::convert {
namespace {

/// Bytes [begin, end) of the file.
struct Claim {
  uint64_t begin, end;
  size_t component;
};

/// Claims on a file's bytes. If several claims cover a byte, the one that begins first gets it.
class Claims {
 public:
  explicit Claims(const Model& model) : model_(model) {
    if (read_header(model.bytes(), static_cast<size_t>(model.size()), &header_, nullptr) != Status::kOk) header_ = {};
  }

  size_t component(const std::string& group, const std::string& name, Purpose purpose) {
    const auto found = numbers_.find({group, name});
    if (found != numbers_.end()) return found->second;
    numbers_[{group, name}] = components_.size();
    components_.push_back({group, name, purpose, 0});
    return components_.size() - 1;
  }

  void add(size_t component, uint64_t begin, uint64_t size) { claims_.push_back({begin, begin + size, component}); }
  void add(size_t component, const fb::Blob* blob) {
    if (blob != nullptr && blob->size() != 0) add(component, header_.data_offset + blob->offset(), blob->size());
  }
  /// Claims the string with its length and its terminating zero.
  void add(size_t component, const flatbuffers::String* string) {
    if (string != nullptr) add(component, place(string), sizeof(flatbuffers::uoffset_t) + string->size() + 1);
  }
  template <typename T>
  void add_strings(size_t component, const flatbuffers::Vector<flatbuffers::Offset<T>>* strings) {
    if (strings == nullptr) return;
    add(component, place(strings), sizeof(flatbuffers::uoffset_t) * (uint64_t{strings->size()} + 1));
    for (const flatbuffers::String* string : *strings) add(component, string);
  }

  /// Assigns every byte to one component.
  std::vector<Component> settle() {
    const size_t header = component("graph", "header", Purpose::kGraph);
    const size_t tables = component("graph", "operators, tensors, plan", Purpose::kGraph);
    const size_t padding = component("padding", "alignment to 64 bytes", Purpose::kPadding);
    add(header, 0, kHeaderBytes);
    std::stable_sort(claims_.begin(), claims_.end(), [](const Claim& a, const Claim& b) { return a.begin < b.begin; });
    const uint64_t graph_end = header_.graph_offset + header_.graph_size;
    uint64_t at = 0;
    const auto unclaimed = [&](uint64_t end) {  // assigns the unclaimed bytes [at, end)
      const uint64_t first = std::clamp(at, header_.graph_offset, graph_end);
      const uint64_t last = std::clamp(end, header_.graph_offset, graph_end);
      components_[tables].bytes += last - first;
      components_[padding].bytes += end - at - (last - first);
      at = end;
    };
    for (const Claim& claim : claims_) {
      if (claim.begin > at) unclaimed(std::min(claim.begin, model_.size()));
      const uint64_t end = std::min(claim.end, model_.size());
      if (end <= at) continue;
      components_[claim.component].bytes += end - at;
      at = end;
    }
    unclaimed(model_.size());
    components_.erase(
        std::remove_if(components_.begin(), components_.end(), [](const Component& c) { return c.bytes == 0; }),
        components_.end());
    return std::move(components_);
  }

 private:
  template <typename T>
  uint64_t place(const T* object) const {
    return static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(object) - model_.bytes());
  }

  const Model& model_;
  FileHeader header_;
  std::vector<Component> components_;
  std::map<std::pair<std::string, std::string>, size_t> numbers_;
  std::vector<Claim> claims_;
};

void claim_tensors(const Model& model, Claims* claims) {
  const Graph graph = graph_of(model);
  const std::vector<Owner> owners = tensor_owners(graph);
  const auto& stored = *root(model).tensors();
  for (uint32_t i = 0; i < stored.size(); ++i) {
    const fb::Tensor& t = *stored.Get(i);
    if (!bantam::is_constant(t)) continue;
    const Owner& owner = owners[i];
    const bool named = !owner.group.empty();
    const bool vector = owner.purpose == Purpose::kVectors;
    const size_t component =
        claims->component(named ? owner.group : "heads", vector ? "norms and biases" : short_name(t.name()->str()),
                          named ? owner.purpose : Purpose::kHead);
    for (const fb::Blob* blob : {t.data(), t.scales(), t.sums()}) claims->add(component, blob);
  }
}

void claim_tokenizers(const Model& model, Claims* claims) {
  for (uint32_t i = 0; i < count(root(model).tokenizers()); ++i) {
    const fb::Tokenizer& tokenizer = *root(model).tokenizers()->Get(i);
    const auto blob = [&](const std::string& name, const fb::Blob* bytes) {
      claims->add(claims->component("tokenizer", name, Purpose::kTokenizer), bytes);
    };
    for (uint32_t k = 0; k < count(tokenizer.blobs()); ++k) {
      const fb::TokenizerBlob& stored = *tokenizer.blobs()->Get(k);
      std::string name = fb::EnumNameBlobName(stored.name());
      std::replace(name.begin(), name.end(), '_', ' ');
      blob(name.empty() ? "other tables" : name, stored.data());
    }
    const size_t added = claims->component("tokenizer", "added tokens", Purpose::kTokenizer);
    for (uint32_t k = 0; k < count(tokenizer.added_tokens()); ++k) {
      claims->add(added, tokenizer.added_tokens()->Get(k)->text());
    }
  }
}

void claim_texts(const Model& model, Claims* claims) {
  const fb::Model& stored = root(model);
  if (const fb::Shortlist* shortlist = shortlist_of(stored); shortlist != nullptr) {
    claims->add(claims->component("shortlist", "lists of words", Purpose::kLabels), shortlist->lists());
  }
  const size_t labels = claims->component("labels", "labels", Purpose::kLabels);
  for (uint32_t i = 0; i < model.label_set_count(); ++i) {
    const fb::LabelSet& set = *stored.task()->label_sets()->Get(i);
    claims->add_strings(labels, set.labels());
    claims->add(labels, set.name());
  }
  const size_t names = claims->component("graph", "names", Purpose::kGraph);
  for (const fb::Tensor* t : *stored.tensors()) {
    claims->add(names, t->name());
    claims->add_strings(names, t->source());
  }
  for (const fb::Op* op : *graph(stored).ops()) claims->add(names, op->name());
  const size_t provenance = claims->component("graph", "provenance", Purpose::kGraph);
  for (const auto* text :
       {stored.tool(), stored.name(), stored.architecture(), stored.licence(), stored.description()}) {
    claims->add(provenance, text);
  }
  for (uint32_t i = 0; i < count(stored.properties()); ++i) {
    claims->add(provenance, stored.properties()->Get(i)->key());
    claims->add(provenance, stored.properties()->Get(i)->value());
  }
}

/// Returns the number after "layer." in a tensor's name; "" if there is none.
std::string layer_of(const std::string& name) {
  constexpr const char* kLayer = "layer.";
  const size_t begin = name.find(kLayer);
  if (begin == std::string::npos) return "";
  const size_t digits = begin + std::char_traits<char>::length(kLayer);
  const size_t end = std::min(name.find_first_not_of("0123456789", digits), name.size());
  return name.substr(digits, end - digits);
}

Purpose purpose_of(const std::string& tensor_class, bool in_layer) {
  if (tensor_class == "embeddings") return Purpose::kEmbedding;
  if (tensor_class == "attention") return Purpose::kAttention;
  if (tensor_class == "ffn") return Purpose::kFeedForward;
  if (tensor_class == "recurrent") return Purpose::kRecurrent;
  if (tensor_class == "heads" && !in_layer) return Purpose::kHead;
  return Purpose::kVectors;
}

}  // namespace

const char* purpose_name(Purpose purpose) {
  constexpr const char* kNames[kPurposes] = {"embeddings", "attention",       "feed-forward", "norms and biases",
                                             "heads",      "tokenizer",       "labels",       "graph",
                                             "padding",    "recurrent layers"};
  return kNames[static_cast<size_t>(purpose)];
}

Graph graph_of(const Model& model) {
  Graph graph;
  root(model).UnPackTo(&graph.model);
  graph.constants.resize(graph.model.tensors.size());
  for (size_t i = 0; i < graph.constants.size(); ++i) {
    if (bantam::is_constant(*root(model).tensors()->Get(static_cast<uint32_t>(i))))
      graph.constants[i] = std::make_shared<Constant>();
  }
  return graph;
}

std::vector<Owner> tensor_owners(const Graph& graph) {
  std::vector<Owner> owners(graph.model.tensors.size());
  const std::vector<std::string> classes = tensor_classes(graph);
  for (const auto& op : main_subgraph(graph).ops) {
    const fb::Tag tag = tag_of(*op);
    const bool in_layer = tag.layer() >= 0;
    const std::string group = in_layer                             ? fmt::format("layer {}", tag.layer())
                              : tag.part() == fb::Part::embeddings ? "embeddings"
                                                                   : "heads";
    for_each_read(*op, [&](int32_t t) {
      Owner& owner = owners[static_cast<size_t>(t)];
      if (!is_constant(graph, t) || !owner.group.empty()) return;
      owner = {group, purpose_of(classes[static_cast<size_t>(t)], in_layer)};
    });
  }
  return owners;
}

std::string short_name(const std::string& tensor) {
  std::string name = tensor;
  const auto cut = [&](const std::string& end) {
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0)
      name.resize(name.size() - end.size());
  };
  cut(".weight");
  cut(".dense");
  const std::string layer = layer_of(name);
  if (!layer.empty()) {
    const size_t begin = name.find("layer." + layer + ".");
    return begin == std::string::npos ? name : name.substr(begin + 7 + layer.size());
  }
  const size_t embeddings = name.find("embeddings.");
  return embeddings == std::string::npos ? name : name.substr(embeddings + 11);
}

std::vector<Component> file_components(const Model& model) {
  Claims claims(model);
  claim_tensors(model, &claims);
  claim_tokenizers(model, &claims);
  claim_texts(model, &claims);
  return claims.settle();
}

}  // namespace bantam::convert
