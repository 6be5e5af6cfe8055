#include "student/draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "source/gliner.h"
#include "source/label_sets.h"
#include "source/weights.h"

namespace bantam::convert {
namespace {

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

/// Returns the axis of the outputs of a head's layer.
Axis axis_of(HeadLayer::Out out) {
  switch (out) {
    case HeadLayer::Out::kHidden:
      return Axis::kHidden;
    case HeadLayer::Out::kEmbedding:
      return Axis::kEmbedding;
    case HeadLayer::Out::kVocabulary:
      return Axis::kVocabulary;
    case HeadLayer::Out::kLabels:
    case HeadLayer::Out::kInner:
    case HeadLayer::Out::kOne:
    case HeadLayer::Out::kTwo:
    case HeadLayer::Out::kVector:
      break;
  }
  return Axis::kNone;
}

/// Keeps the rows or columns `indices` of a matrix (for a convolution: its inputs), or the elements of a vector.
void gather(MemoryTensor& tensor, bool columns, const Indices& indices) {
  size_t width = 1, inner = 1;
  for (size_t i = 1; i < tensor.shape.size(); ++i) width *= static_cast<size_t>(tensor.shape[i]);
  for (size_t i = 2; i < tensor.shape.size(); ++i) inner *= static_cast<size_t>(tensor.shape[i]);
  const size_t height = static_cast<size_t>(tensor.shape[0]);
  std::vector<float> out;
  out.reserve(columns ? height * indices.size() * inner : indices.size() * width);
  if (columns) {
    for (size_t row = 0; row < height; ++row) {
      for (const uint32_t i : indices) {
        const float* column = tensor.values.data() + row * width + i * inner;
        out.insert(out.end(), column, column + inner);
      }
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

/// Returns the tensor, transposed if `turns` is set and it is a matrix.
MemoryTensor turned_as(bool turns, const MemoryTensor& tensor) {
  if (!turns || tensor.shape.size() != 2) return tensor;
  return {{tensor.shape[1], tensor.shape[0]}, turned(tensor.values, static_cast<size_t>(tensor.shape[0]))};
}

template <typename T>
bool all_same(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [&](const T& value) { return value == values.front(); });
}

}  // namespace

Draft::Draft(ModelSource source) : source_(std::move(source)) {
  if (source_.onnx != nullptr) {
    throw Error(
        ExitCode::kUnsupported,
        fmt::format("{}: smaller layouts are made of directories with config.json and model.safetensors, not of ONNX "
                    "or TensorFlow Lite files; convert it as it is, or name the directory that it was exported from",
                    source_.weight_files.front().string()));
  }
  Problems problems;
  const Fields fields(source_.config, "config.json", problems);
  config_ = read_encoder_config(fields);
  if (config_.family != nullptr && config_.family->source != nullptr) {
    source_config_ = read_source_config(fields, *config_.family);
  }
  if (const char* why = config_.family == nullptr ? nullptr : config_.family->why_no_draft()) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("config.json: model_type: \"{}\": layers stay, because {}; convert the model as it is",
                             config_.model_type, why));
  }
  if (!config_.clusters.empty()) {
    problems.add(ExitCode::kUnsupported,
                 "config.json: cutoffs: words in clusters stay as they are; convert the model without a student");
  }
  for (NamedLabels& set : read_label_sets(fields)) {
    if (!set.tensor.empty()) classifiers_.push_back(std::move(set.tensor));
  }
  problems.raise();
  roles_ = stored_roles(config_);
  if (source_config_) {
    for (auto& role : stored_roles(*source_config_)) roles_.push_back(std::move(role));
    for (const Family* side : {config_.family, source_config_->family}) {
      if (side->own_words != nullptr) roles_.emplace_back(Slot::kWords, side->own_words);
    }
  }
  ModelNames names = model_names(family());
  name_gliner_encoder(source_.config, &names);
  base_ = base_prefix(*source_.checkpoint, names);
  outer_ = outer_prefix(base_, names);
  for (const LayerStack stack : {LayerStack::kOwn, LayerStack::kSource}) {
    if (stack == LayerStack::kSource && !source_config_) continue;
    const EncoderConfig& config = config_of(stack);
    for (uint32_t i = config.layers; i-- > 0;) places_[base_ + layer_prefix(config, i)] = {stack, i};
  }
  std::vector<std::string> left;
  for (const auto& [stored, entry] : source_.checkpoint->tensors()) {
    std::string name = stored;
    for (const auto& [legacy, modern] :
         {std::pair("LayerNorm.gamma", "LayerNorm.weight"), std::pair("LayerNorm.beta", "LayerNorm.bias")}) {
      if (ends_with(name, legacy)) name = name.substr(0, name.size() - std::string_view(legacy).size()) + modern;
    }
    for (const auto& [legacy, modern] : family().renamed) {
      const std::string before = outer_ + legacy;
      if (name.compare(0, before.size(), before) == 0) name = outer_ + modern + name.substr(before.size());
    }
    if (!take(name, {entry.stored->shape, source_.checkpoint->read(stored)})) left.push_back(stored);
  }
  if (!left.empty()) notes_.push_back(fmt::format("left out: {}", fmt::join(left, ", ")));
}

bool Draft::take(const std::string& name, const MemoryTensor& tensor) {
  if (role_of(name).known) {
    tensors_[name] = tensor;
    return true;
  }
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || tensor.shape.empty()) return false;
  const std::string module = name.substr(0, dot), kind = name.substr(dot);
  if (role_of(module + "^" + kind).known) {
    tensors_[module + "^" + kind] = turned_as(true, tensor);
    return true;
  }
  for (const char* mark : {"", "^"}) {
    for (const uint32_t parts : {2U, 3U}) {
      const auto part_name = [&](uint32_t part) {
        return fmt::format("{}{}[{}/{}]{}", module, mark, part, parts, kind);
      };
      if (!role_of(part_name(0)).known) continue;
      const MemoryTensor whole = turned_as(*mark != 0, tensor);
      if (whole.shape.front() % parts != 0) continue;
      const size_t count = whole.values.size() / parts;
      for (uint32_t part = 0; part < parts; ++part) {
        const auto begin = whole.values.begin() + static_cast<std::ptrdiff_t>(part * count);
        MemoryTensor piece{whole.shape, {begin, begin + static_cast<std::ptrdiff_t>(count)}};
        piece.shape.front() /= parts;
        tensors_[part_name(part)] = std::move(piece);
      }
      return true;
    }
  }
  return false;
}

std::map<std::string, MemoryTensor> Draft::tensors() const {
  std::map<std::string, MemoryTensor> whole;
  std::set<std::string> turned;
  for (const auto& [name, tensor] : tensors_) {  // parts are in order
    const TensorPart part = tensor_part(name);
    MemoryTensor& into = whole[part.name];
    if (part.turned) turned.insert(part.name);
    if (into.shape.empty()) {
      into = tensor;
      continue;
    }
    into.shape.front() += tensor.shape.front();
    into.values.insert(into.values.end(), tensor.values.begin(), tensor.values.end());
  }
  for (const std::string& name : turned) whole[name] = turned_as(true, whole[name]);
  return whole;
}

Axis Draft::resolved(Axis axis) const { return axis == Axis::kEmbedding && !config_.projects ? Axis::kHidden : axis; }

Draft::Role Draft::role_of(const std::string& name) const {
  // NAME.weight and NAME.bias belong to a module: get its name, and whether this is the weight.
  const size_t dot = name.rfind('.');
  const std::string module = name.substr(0, std::min(dot, name.size()));
  const std::string kind = dot == std::string::npos ? "" : name.substr(dot);
  const bool weight = kind == ".weight";
  const auto role = [&](Axis rows, Axis columns, Place place = {LayerStack::kOwn, 0}, bool of_layer = false) {
    return Role{resolved(rows), weight ? resolved(columns) : Axis::kNone, of_layer ? int64_t{place.layer} : -1, true,
                place.stack};
  };
  const auto is = [](const std::string& whole, const std::string& prefix, std::string_view rest) {
    return whole.size() == prefix.size() + rest.size() && whole.compare(0, prefix.size(), prefix) == 0 &&
           whole.compare(prefix.size(), rest.size(), rest) == 0;
  };
  for (const auto& [slot, of_slot] : roles_) {
    const Axes axes = axes_of(family(), slot);
    if (is_table(slot) && is(name, base_, of_slot)) return role(axes.rows, axes.columns);
  }
  for (const auto& [slot, of_slot] : roles_) {
    if (!family().is_whole(slot) || !ends_with(name, "." + of_slot)) continue;
    const auto layer = places_.find(name.substr(0, name.size() - of_slot.size()));
    if (layer != places_.end()) return role(axes_of(family(), slot).rows, Axis::kNone, layer->second, true);
  }
  // A conditional random field has no columns that could be removed.
  if (is(module, outer_, "crf")) return Role{Axis::kNone, Axis::kNone, -1, true};
  const OwnLayers& own = family().own;
  if (own.scores != nullptr && name == outer_ + own.scores) return role(Axis::kVocabulary, Axis::kNone);
  for (const std::string part : own.tensors) {
    if (name.compare(0, base_.size() + part.size(), base_ + part) == 0) return {Axis::kNone, Axis::kNone, -1, true};
  }
  if (has_gliner(source_.config) && module.compare(0, outer_.size(), outer_) == 0) {
    const GlinerPart part = gliner_part(module.substr(outer_.size()));
    if (part != GlinerPart::kNone) {
      return role(Axis::kNone, part == GlinerPart::kReadsEncoder ? Axis::kHidden : Axis::kNone);
    }
  }
  for (const Head& head : family().heads) {
    for (const HeadLayer& layer : head.layers) {
      if (layer.bias != nullptr && is(name, outer_, layer.bias)) return role(axis_of(layer.out), Axis::kNone);
    }
  }
  for (const auto& [slot, of_slot] : roles_) {  // biases of all experts in one tensor
    const bool biases = is_of_expert(slot) && ends_with(name, "." + tensor_part(of_slot).name + "_bias");
    if (biases) return Role{Axis::kNone, Axis::kNone, -1, true};
  }
  if (!weight && kind != ".bias") return {};
  for (const auto& [slot, of_slot] : roles_) {
    if (is_table(slot) || family().is_whole(slot)) continue;
    const Axes axes = axes_of(family(), slot);
    if (!is_of_layer(slot) && is(module, base_, of_slot)) return role(axes.rows, axes.columns);
    if (!is_of_layer(slot) || !ends_with(module, "." + of_slot)) continue;
    const auto layer = places_.find(module.substr(0, module.size() - of_slot.size()));
    if (layer != places_.end()) return role(axes.rows, axes.columns, layer->second, true);
  }
  for (const std::string& classifier : classifiers_) {
    if (is(module, outer_, classifier)) return role(Axis::kNone, Axis::kHidden);
  }
  for (const Head& head : family().heads) {
    Axis in = family().has(Slot::kLastProjection) ? Axis::kEmbedding : Axis::kHidden;
    for (const HeadLayer& layer : head.layers) {
      const Axis out = axis_of(layer.out);
      if (is(module, layer.of_base ? base_ : outer_, layer.name)) return role(out, in);
      if (layer.norm != nullptr && is(module, outer_, layer.norm)) return role(out, Axis::kNone);
      if (layer.beside != nullptr && is(module, outer_, layer.beside)) return role(Axis::kNone, out);
      in = out;
    }
  }
  return {};
}

std::string Draft::name_in(uint32_t layer, Slot slot) const {
  return base_ + layer_prefix(config_, layer) + family().name(slot);
}

void Draft::keep(Axis axis, uint32_t layer, const Indices& indices) {
  const bool everywhere = axis == Axis::kHidden || axis == Axis::kVocabulary || axis == Axis::kPositions;
  for (auto& [name, tensor] : tensors_) {
    const Role role = role_of(name);
    if (!everywhere && role.layer != layer) continue;
    if (role.columns == axis) gather(tensor, true, indices);
    if (role.rows == axis) gather(tensor, false, indices);
  }
  const auto count = static_cast<uint32_t>(indices.size()) - (axis == Axis::kPositions ? config_.first_position : 0);
  if (axis == Axis::kHidden) {
    config_.hidden = count;
    if (!config_.bottlenecks) config_.inner = count;
    if (!config_.projects) config_.embedding = count;
  }
  if (axis == Axis::kVocabulary) config_.vocabulary = count;
  if (axis == Axis::kPositions) config_.positions = count;
  if (axis == Axis::kFfn) config_.widths.intermediate[layer] = count;
}

void Draft::keep_layers(const Indices& layers, LayerStack stack) {
  EncoderConfig& config = stack == LayerStack::kSource ? *source_config_ : config_;
  std::map<std::string, MemoryTensor> kept;
  for (auto& [name, tensor] : tensors_) {
    const Role role = role_of(name);
    if (role.layer < 0 || role.stack != stack) {
      kept[name] = std::move(tensor);
      continue;
    }
    const auto place = std::find(layers.begin(), layers.end(), static_cast<uint32_t>(role.layer));
    if (place == layers.end()) continue;
    const std::string old_place = base_ + layer_prefix(config, static_cast<uint32_t>(role.layer));
    const std::string new_place = base_ + layer_prefix(config, static_cast<uint32_t>(place - layers.begin()));
    kept[new_place + name.substr(old_place.size())] = std::move(tensor);
  }
  tensors_ = std::move(kept);
  LayerWidths widths;
  for (const uint32_t layer : layers) {
    widths.heads.push_back(config.widths.heads[layer]);
    widths.intermediate.push_back(config.widths.intermediate[layer]);
    widths.shared.push_back(static_cast<uint32_t>(widths.shared.size()));
  }
  config.widths = std::move(widths);
  config.layers = static_cast<uint32_t>(layers.size());
  std::vector<LayerPlaces> places;
  for (const uint32_t layer : layers) {
    if (!config.places.empty()) places.push_back(config.places[layer]);
  }
  config.places = std::move(places);
  if (!family().block.norm_first || family().block.norm_before_all) return;
  // The first layer's attention now reads the output of the embeddings' norm.
  const std::string first = name_in(0, Slot::kAttentionNorm);
  tensors_.erase(first + ".weight");
  tensors_.erase(first + ".bias");
}

void Draft::share(const std::vector<uint32_t>& owners) {
  config_.widths.shared = owners;
  for (uint32_t i = 0; i < config_.layers; ++i) {
    for (const Slot slot : {Slot::kQuery, Slot::kKey, Slot::kValue, Slot::kGlobalQuery, Slot::kGlobalKey,
                            Slot::kGlobalValue, Slot::kAttentionOut, Slot::kUp, Slot::kGate, Slot::kDown}) {
      if (!family().has(slot)) continue;
      weight(i, slot) = weight(owners[i], slot);
      if (has_bias(i, slot)) bias(i, slot) = bias(owners[i], slot);
    }
  }
}

void Draft::factorise(MemoryTensor rows, MemoryTensor projection, MemoryTensor bias) {
  config_.embedding_rank = static_cast<uint32_t>(rows.shape[1]);
  table(Slot::kWords) = std::move(rows);
  const std::string widens = base_ + family().name(Slot::kFactorProjection);
  tensors_[widens + ".weight"] = std::move(projection);
  tensors_[widens + ".bias"] = std::move(bias);
}

void Draft::multiply_factors() {
  const size_t rank = config_.embedding_rank;
  if (rank == 0) return;
  const std::string widens = base_ + family().name(Slot::kFactorProjection);
  const MemoryTensor factor = tensors_.at(widens + ".weight"), bias = tensors_.at(widens + ".bias");
  MemoryTensor& words = table(Slot::kWords);
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
  tensors_.erase(widens + ".weight");
  tensors_.erase(widens + ".bias");
  config_.embedding_rank = 0;
}

bool Draft::uniform() const {
  if (config_.layers == 0 || source_config_) return true;
  const bool says_width = family().settings.head_width != nullptr;
  const bool fills = says_width || config_.widths.heads.front() * config_.head_width == config_.inner;
  return all_same(config_.widths.heads) && all_same(config_.widths.intermediate) && config_.embedding_rank == 0 &&
         fills;
}

LayoutSize Draft::size() const {
  const bool layers = config_.layers != 0;
  LayoutSize size{source_config_ ? config_.layers : 0,
                  source_config_ ? source_config_->layers : config_.layers,
                  layers ? config_.widths.heads.front() : 0,
                  config_.head_width,
                  layers ? config_.widths.intermediate.front() : 0,
                  config_.hidden,
                  config_.vocabulary};
  for (const auto& [name, tensor] : tensors_) {
    const auto [rows, columns, layer, known, stack] = role_of(name);
    const uint64_t count = tensor.values.size();
    const bool again = layer >= 0 && tensor.shape.size() == 2 &&
                       config_of(stack).widths.shared[static_cast<size_t>(layer)] != static_cast<uint32_t>(layer);
    if (again) continue;
    size.parameters += count;
    if (layer >= 0) size.encoder_parameters += count;
  }
  return size;
}

void Draft::put_settings() {
  Json& json = source_.config;
  const Settings& settings = family().settings;
  const auto put = [&](const Count& setting, uint32_t value) {
    if (setting.key != nullptr) json[setting.key] = value;
  };
  put(settings.layers, config_.layers / config_.inner_layers);
  if (source_config_) {
    // All other settings stay the same.
    put(family().source->settings.layers, source_config_->layers);
    if (json.contains("num_hidden_layers")) json["num_hidden_layers"] = source_config_->layers;
    if (const char* spans = family().source->settings.spans) {
      json[spans] = Json::array();
      for (const LayerPlaces& places : source_config_->places) json[spans].push_back(2 * places.window);
    }
    return;
  }
  put(settings.hidden, config_.hidden);
  const char* embedding = settings.embedding.key;
  if (embedding != nullptr && (settings.embedding.otherwise != 0 || json.contains(embedding))) {
    json[embedding] = config_.embedding;
  }
  if (config_.layers != 0) {
    put(settings.heads, config_.widths.heads.front());
    put(settings.intermediate, config_.widths.intermediate.front());
  }
  if (settings.head_width != nullptr) json[settings.head_width] = config_.head_width;
  put(settings.vocabulary, config_.vocabulary);
  put(settings.positions, config_.first_position + config_.positions - settings.positions_in_front);
  // The window of relative positions does not depend on the number of positions.
  if (config_.relative.most != 0) json["max_relative_positions"] = config_.relative.most;
  if (settings.window.key != nullptr && !config_.places.empty()) {
    json["layer_types"] = Json::array();
    for (const LayerPlaces& places : config_.places) {
      json["layer_types"].push_back(places.sees_all ? "full_attention" : "sliding_attention");
    }
  }
  if (settings.spans != nullptr) {
    json[settings.spans] = json[settings.dilations] = Json::array();
    for (const LayerPlaces& places : config_.places) {
      json[settings.spans].push_back(2 * places.window);
      json[settings.dilations].push_back(places.dilation);
    }
  }
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
  copy.source_.checkpoint = std::make_shared<const Checkpoint>(tensors());
  return copy.source_;
}

}  // namespace bantam::convert
