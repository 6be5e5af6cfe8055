#include "student/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "import/source/weights.h"

namespace bantam::convert {
namespace {

constexpr const char* kWords = "embeddings.word_embeddings.weight";

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// Outputs and inputs of a module; a norm has outputs only.
struct Module {
  std::string_view name;
  Axis out, in;
};

// Relative to the base model.
constexpr Module kEncoderModules[] = {{"embeddings.LayerNorm", Axis::kHidden, Axis::kNone},
                                      {"pooler.dense", Axis::kHidden, Axis::kHidden},
                                      {kEmbeddingProjection, Axis::kHidden, Axis::kNone}};
constexpr Module kTables[] = {{kWords, Axis::kVocabulary, Axis::kHidden},
                              {"embeddings.position_embeddings.weight", Axis::kPositions, Axis::kHidden},
                              {"embeddings.token_type_embeddings.weight", Axis::kNone, Axis::kHidden}};
// Beside it.
constexpr Module kHeadModules[] = {{"pre_classifier", Axis::kHidden, Axis::kHidden},
                                   {"classifier", Axis::kNone, Axis::kHidden},
                                   {"qa_outputs", Axis::kNone, Axis::kHidden},
                                   {"intent_classifier", Axis::kNone, Axis::kHidden},
                                   {"slot_classifier", Axis::kNone, Axis::kHidden},
                                   {"cls.seq_relationship", Axis::kNone, Axis::kHidden},
                                   {"cls.predictions.transform.dense", Axis::kHidden, Axis::kHidden},
                                   {"cls.predictions.transform.LayerNorm", Axis::kHidden, Axis::kNone},
                                   {"cls.predictions.decoder", Axis::kVocabulary, Axis::kHidden},
                                   {"cls.predictions", Axis::kVocabulary, Axis::kNone},  // its bias
                                   {"vocab_transform", Axis::kHidden, Axis::kHidden},
                                   {"vocab_layer_norm", Axis::kHidden, Axis::kNone},
                                   {"vocab_projector", Axis::kVocabulary, Axis::kHidden}};

/// The rows, or columns, `indices` of a matrix; elements of a vector.
void gather(MemoryTensor& tensor, bool columns, const Indices& indices) {
  const size_t width = tensor.shape.size() == 2 ? static_cast<size_t>(tensor.shape[1]) : 1;
  const size_t height = static_cast<size_t>(tensor.shape[0]);
  std::vector<float> out;
  out.reserve(columns ? height * indices.size() : indices.size() * width);
  if (columns) {
    for (size_t row = 0; row < height; ++row) {
      for (const uint32_t i : indices) out.push_back(tensor.values[row * width + i]);
    }
    tensor.shape[1] = indices.size();
  } else {
    for (const uint32_t i : indices) {
      const float* row = tensor.values.data() + size_t{i} * width;
      out.insert(out.end(), row, row + width);
    }
    tensor.shape[0] = indices.size();
  }
  tensor.values = std::move(out);
}

template <typename T>
bool all_same(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [&](const T& value) { return value == values.front(); });
}

}  // namespace

Draft::Draft(ModelSource source) : source_(std::move(source)) {
  Problems problems;
  config_ = read_encoder_config(Fields(source_.config, "config.json", problems));
  problems.raise();
  base_ = base_prefix(*source_.checkpoint, config_.model_type);
  outer_ = base_;
  if (ends_with(outer_, config_.model_type + ".")) outer_.resize(outer_.size() - config_.model_type.size() - 1);
  std::vector<std::string> left;
  for (const auto& [stored, entry] : source_.checkpoint->tensors()) {
    std::string name = stored;
    for (const auto& [legacy, modern] :
         {std::pair("LayerNorm.gamma", "LayerNorm.weight"), std::pair("LayerNorm.beta", "LayerNorm.bias")}) {
      if (ends_with(name, legacy)) name = name.substr(0, name.size() - std::string_view(legacy).size()) + modern;
    }
    if (!role_of(name).known) {
      left.push_back(stored);
      continue;
    }
    tensors_[name] = {entry.stored->shape, source_.checkpoint->read(stored)};
  }
  if (!left.empty()) notes_.push_back(fmt::format("left out: {}", fmt::join(left, ", ")));
}

Draft::Role Draft::role_of(const std::string& name) const {
  Role role;
  const auto inside = [&](const std::string& prefix, std::string_view rest) {
    return name.size() == prefix.size() + rest.size() && name.compare(0, prefix.size(), prefix) == 0 &&
           name.compare(prefix.size(), rest.size(), rest) == 0;
  };
  const auto module = [&](const std::string& prefix, const Module& known) {
    const std::string full = prefix + std::string(known.name);
    const bool weight = inside(full, ".weight");
    if (!weight && !inside(full, ".bias")) return;
    role.known = true;
    role.rows = known.out;
    role.columns = weight ? known.in : Axis::kNone;
  };
  for (const Module& table : kTables) {
    if (inside(base_, table.name)) return {table.out, table.in, -1, true};
  }
  for (const Module& known : kEncoderModules) module(base_, known);
  for (const Module& known : kHeadModules) module(outer_, known);
  const std::string stack = base_ + names().stack + ".";
  if (role.known || name.compare(0, stack.size(), stack) != 0) return role;
  uint32_t layer = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + stack.size(), end, layer);
  if (parsed.ec != std::errc() || parsed.ptr == end || layer >= config_.layers) return role;
  const std::string prefix(name.data(), parsed.ptr + 1);
  const LayerNames& part = names();
  for (const Module& known : {Module{part.query, Axis::kScores, Axis::kHidden},
                              {part.key, Axis::kScores, Axis::kHidden},
                              {part.value, Axis::kValues, Axis::kHidden},
                              {part.out, Axis::kHidden, Axis::kValues},
                              {part.out_norm, Axis::kHidden, Axis::kNone},
                              {part.up, Axis::kFfn, Axis::kHidden},
                              {part.down, Axis::kHidden, Axis::kFfn},
                              {part.down_norm, Axis::kHidden, Axis::kNone}}) {
    module(prefix, known);
  }
  role.layer = layer;
  return role;
}

MemoryTensor& Draft::layer(uint32_t layer, const std::string& part) {
  return encoder(fmt::format("{}.{}.{}", names().stack, layer, part));
}

const MemoryTensor& Draft::layer(uint32_t layer, const std::string& part) const {
  return tensors_.at(base_ + fmt::format("{}.{}.{}", names().stack, layer, part));
}

void Draft::keep(Axis axis, uint32_t layer, const Indices& indices) {
  const bool everywhere = axis == Axis::kHidden || axis == Axis::kVocabulary || axis == Axis::kPositions;
  for (auto& [name, tensor] : tensors_) {
    const Role role = role_of(name);
    if (!everywhere && role.layer != layer) continue;
    if (role.columns == axis) gather(tensor, true, indices);
    if (role.rows == axis) gather(tensor, false, indices);
  }
  const auto count = static_cast<uint32_t>(indices.size());
  if (axis == Axis::kHidden) config_.hidden = count;
  if (axis == Axis::kVocabulary) config_.vocabulary = count;
  if (axis == Axis::kPositions) config_.positions = count;
  if (axis == Axis::kFfn) config_.widths.intermediate[layer] = count;
}

void Draft::keep_layers(const Indices& layers) {
  std::map<std::string, MemoryTensor> kept;
  const std::string stack = base_ + names().stack + ".";
  for (auto& [name, tensor] : tensors_) {
    const Role role = role_of(name);
    if (role.layer < 0) {
      kept[name] = std::move(tensor);
      continue;
    }
    const auto place = std::find(layers.begin(), layers.end(), static_cast<uint32_t>(role.layer));
    if (place == layers.end()) continue;
    const std::string rest = name.substr(name.find('.', stack.size()));
    kept[fmt::format("{}{}{}", stack, place - layers.begin(), rest)] = std::move(tensor);
  }
  tensors_ = std::move(kept);
  LayerWidths widths;
  for (const uint32_t layer : layers) {
    widths.heads.push_back(config_.widths.heads[layer]);
    widths.intermediate.push_back(config_.widths.intermediate[layer]);
    widths.shared.push_back(static_cast<uint32_t>(widths.shared.size()));
  }
  config_.widths = std::move(widths);
  config_.layers = static_cast<uint32_t>(layers.size());
}

void Draft::share(const std::vector<uint32_t>& owners) {
  config_.widths.shared = owners;
  for (uint32_t i = 0; i < config_.layers; ++i) {
    const LayerNames& part = names();
    for (const char* module : {part.query, part.key, part.value, part.out, part.up, part.down}) {
      for (const char* kind : {".weight", ".bias"}) {
        layer(i, std::string(module) + kind) = layer(owners[i], std::string(module) + kind);
      }
    }
  }
}

void Draft::factorise(MemoryTensor rows, MemoryTensor projection, MemoryTensor bias) {
  config_.embedding_rank = static_cast<uint32_t>(rows.shape[1]);
  encoder(kWords) = std::move(rows);
  tensors_[base_ + kEmbeddingProjection + ".weight"] = std::move(projection);
  tensors_[base_ + kEmbeddingProjection + ".bias"] = std::move(bias);
}

void Draft::multiply_factors() {
  const size_t rank = config_.embedding_rank;
  if (rank == 0) return;
  const std::string projection = std::string(kEmbeddingProjection);
  const MemoryTensor factor = encoder(projection + ".weight"), bias = encoder(projection + ".bias");
  MemoryTensor& words = encoder(kWords);
  const size_t width = static_cast<size_t>(factor.shape[0]), count = static_cast<size_t>(words.shape[0]);
  std::vector<float> product(count * width);
  for (size_t row = 0; row < count; ++row) {
    for (size_t column = 0; column < width; ++column) {
      double sum = double{bias.values[column]};
      for (size_t r = 0; r < rank; ++r) {
        sum += double{words.values[row * rank + r]} * double{factor.values[column * rank + r]};
      }
      product[row * width + column] = static_cast<float>(sum);
    }
  }
  words.values = std::move(product);
  words.shape[1] = width;
  tensors_.erase(base_ + projection + ".weight");
  tensors_.erase(base_ + projection + ".bias");
  config_.embedding_rank = 0;
}

bool Draft::uniform() const {
  return all_same(config_.widths.heads) && all_same(config_.widths.intermediate) && config_.embedding_rank == 0 &&
         config_.widths.heads.front() * config_.head_width == config_.hidden;
}

LayoutSize Draft::size() const {
  LayoutSize size{config_.layers,     config_.widths.heads.front(),
                  config_.head_width, config_.widths.intermediate.front(),
                  config_.hidden,     config_.vocabulary};
  for (const auto& [name, tensor] : tensors_) {
    const int64_t layer = role_of(name).layer;
    const uint64_t count = tensor.values.size();
    const bool again = layer >= 0 && tensor.shape.size() == 2 &&
                       config_.widths.shared[static_cast<size_t>(layer)] != static_cast<uint32_t>(layer);
    if (again) continue;
    size.parameters += count;
    if (layer >= 0) size.encoder_parameters += count;
  }
  return size;
}

void Draft::put_settings() {
  Json& json = source_.config;
  const bool bert = config_.family == Family::kBert;
  json[bert ? "hidden_size" : "dim"] = config_.hidden;
  json[bert ? "num_hidden_layers" : "n_layers"] = config_.layers;
  json[bert ? "num_attention_heads" : "n_heads"] = config_.widths.heads.front();
  json[bert ? "intermediate_size" : "hidden_dim"] = config_.widths.intermediate.front();
  json["vocab_size"] = config_.vocabulary;
  json["max_position_embeddings"] = config_.positions;
  Json layout = Json::object();
  if (!uniform()) {
    layout["heads"] = config_.widths.heads;
    layout["head_width"] = config_.head_width;
    layout["intermediate"] = config_.widths.intermediate;
  }
  for (uint32_t i = 0; i < config_.layers; ++i) {
    if (config_.widths.shared[i] != i) layout["shared"] = config_.widths.shared;
  }
  if (config_.embedding_rank != 0) layout["embedding_rank"] = config_.embedding_rank;
  json.erase("bantam_layout");
  if (!layout.empty()) json["bantam_layout"] = layout;
}

ModelSource Draft::source() const {
  Draft copy = *this;
  copy.put_settings();
  copy.source_.checkpoint = std::make_shared<const Checkpoint>(std::move(copy.tensors_));
  return copy.source_;
}

}  // namespace bantam::convert
