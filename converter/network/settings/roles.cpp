// A family's roles in a model of given settings: names of tensors, whether they exist, and their sizes.
#include <fmt/format.h>

#include "graph/task_parts.h"
#include "network/settings/config.h"
#include "network/settings/entities.h"
#include "network/settings/experts.h"

namespace bantam::convert {

ModelNames model_names(const Family& family) {
  const char* anchor = family.anchor != nullptr ? family.anchor : family.name(Slot::kWords);
  ModelNames names{family.base, anchor, {}, family.other_bases, family.renamed, family.numbers_behind};
  if (family.has(Slot::kPooler)) {
    names.unused.push_back({std::string(family.name(Slot::kPooler)) + ".", "this head does not use the pooler"});
  }
  if (family.block.bottlenecks) {
    names.unused.push_back({std::string(family.name(Slot::kEmbeddingProjection)) + ".", "words need no projection"});
    for (const Slot slot : {Slot::kNarrowScores, Slot::kNarrowScoresNorm}) {
      names.unused.push_back({std::string(family.name(slot)) + ".", "queries and keys share the bottleneck of values"});
    }
  }
  // Files have these tensors even if no scores depend on relative positions ("relative_attention", "pos_att_type").
  for (const Slot slot : {Slot::kPlaces, Slot::kPlacesNorm}) {
    if (family.has(slot)) names.unused.push_back({family.name(slot), "no places are relative"});
  }
  if (family.has(Slot::kDistanceKeys)) names.unused.push_back({family.name(Slot::kPositions), "places are distances"});
  for (const auto& [name, why] : family.unused) names.unused.push_back({name, why});
  for (const Head& head : family.heads) {
    const std::string task = typed_name(static_cast<TaskKind>(head.task));
    for (const HeadLayer& layer : head.layers) {
      const std::string why = fmt::format("the head for {} is not converted for this task", task);
      names.unused.push_back({std::string(layer.name) + ".", why});
      if (layer.norm != nullptr) names.unused.push_back({std::string(layer.norm) + ".", why});
      if (layer.bias != nullptr) names.unused.push_back({layer.bias, why});
      if (layer.beside != nullptr) names.unused.push_back({std::string(layer.beside) + ".", why});
    }
  }
  return names;
}

uint32_t kv_heads_of(const EncoderConfig& config, uint32_t layer) {
  return config.kv_heads == config.heads ? config.widths.heads[layer] : config.kv_heads;
}

std::string layer_prefix(const EncoderConfig& config, uint32_t layer) {
  const std::string pattern = config.family->layer;
  if (config.groups == 0) return fmt::format(fmt::runtime(pattern), layer) + ".";
  // Computed in double precision, as in transformers.
  const uint32_t round = layer / config.inner_layers;
  const double rounds = static_cast<double>(config.layers) / config.inner_layers;
  const auto group = static_cast<uint32_t>(round / (rounds / config.groups));
  return fmt::format(fmt::runtime(pattern), group, layer % config.inner_layers) + ".";
}

bool has_role(const EncoderConfig& config, Slot slot) {
  using Sharing = SummedKeys::Sharing;
  const Sharing sharing = config.summed.sharing;
  const bool by_axes = config.chunked.axis_rows[0] != 0;
  if ((slot == Slot::kPositions && by_axes) || (!by_axes && (slot == Slot::kFirstAxis || slot == Slot::kSecondAxis))) {
    return false;
  }
  if (slot == Slot::kTokenProjection && sharing != Sharing::kLayers) return false;
  if (slot == Slot::kKeyProjection && sharing == Sharing::kLayers) return false;
  if (slot == Slot::kValueProjection && sharing >= Sharing::kKeysValues) return false;
  if (!config.head_norms && (slot == Slot::kQueryNorm || slot == Slot::kKeyNorm)) return false;
  if (slot == Slot::kLastProjection && !config.projects) return false;
  if (slot == Slot::kValueConvolution && config.value_taps == 0) return false;
  if (is_shared(slot) && config.experts.shared == 0) return false;
  const bool shared_norm = config.parallel && !config.family->block.parallel_norms;
  return config.family->has(slot) && !(shared_norm && slot == Slot::kDownNorm);
}

bool has_role(const EncoderConfig& config, Slot slot, uint32_t layer) {
  const bool of_experts = is_of_expert(slot) || slot == Slot::kRouter || slot == Slot::kChoiceBias || is_shared(slot);
  const bool dense = slot == Slot::kUp || slot == Slot::kGate || slot == Slot::kDown;
  if (of_experts || (dense && !config.experts.layers.empty())) {
    return has_role(config, slot) && config.experts.layers[layer] == of_experts;
  }
  if (!config.attends.empty() && (is_of_attention(slot) || is_of_short(slot))) {
    return has_role(config, slot) && config.attends[layer] == is_of_attention(slot);
  }
  const bool of_text = slot == Slot::kQuery || slot == Slot::kKey;
  if (!config.chunked.hashed.empty() && (of_text || slot == Slot::kQueryKey)) {
    return config.chunked.hashed[layer] == !of_text;
  }
  if (!is_of_entities(slot)) return has_role(config, slot);
  const EncoderConfig::Entities kind = config.entity_layers[layer];
  return is_of_entity_attention(slot) ? kind == EncoderConfig::Entities::kAttend
                                      : kind != EncoderConfig::Entities::kNone;
}

std::vector<std::pair<Slot, std::string>> stored_roles(const EncoderConfig& config) {
  std::vector<std::pair<Slot, std::string>> all;
  for (const auto& [slot, name] : config.family->roles) {
    if (!is_stored(slot) || !has_role(config, slot)) continue;
    if (config.family->is_plain(slot)) continue;
    const std::string pattern = name;
    if (pattern.find("{}") == std::string::npos) {
      all.emplace_back(slot, pattern);
      continue;
    }
    const uint32_t count = slot == Slot::kDistances ? config.layers
                           : is_of_expert(slot)     ? config.experts.experts
                                                    : config.feed_forwards - 1;
    for (uint32_t i = 0; i < count; ++i) {
      all.emplace_back(slot, fmt::format(fmt::runtime(pattern), i));
    }
  }
  return all;
}

uint32_t extent_of(const EncoderConfig& config, Axis axis) {
  switch (axis) {
    case Axis::kNone:
      return 0;
    case Axis::kHidden:
      return config.hidden;
    case Axis::kEmbedding:
      return config.embedding;
    case Axis::kVocabulary:
      return config.vocabulary;
    case Axis::kPositions:
      return config.first_position + config.positions;
    case Axis::kFfn:
      return config.intermediate;
    case Axis::kScores:
    case Axis::kValues:
      return config.family->settings.head_width != nullptr || config.family->settings.width_parts != 1
                 ? config.heads * config.head_width
                 : config.inner;
    case Axis::kShared:
      return config.kv_heads * config.head_width;
    case Axis::kHead:
      return config.head_width;
    case Axis::kInner:
      return config.inner;
    case Axis::kValueInput:
      return config.narrow_scores ? config.hidden : config.inner;
    case Axis::kWordInput:
      return config.trigrams ? 3 * config.embedding : config.embedding;
    case Axis::kEntities:
      return config.entities;
    case Axis::kEntity:
      return config.entity_width;
    case Axis::kExperts:
      return config.experts.experts;
    case Axis::kExpertFfn:
      return config.experts.columns;
    case Axis::kSharedFfn:
      return config.experts.shared;
    case Axis::kHeads:
      return config.heads;
    case Axis::kStreams:
      return 2 * config.hidden;
  }
  return 0;
}

std::vector<uint32_t> shape_by_head(const EncoderConfig& config, Slot slot) {
  switch (slot) {
    case Slot::kQueryBias:
    case Slot::kPlaceBias:
    case Slot::kSegmentBias:
      return {config.heads, config.head_width};
    case Slot::kSegmentKeys:
      return {2, config.heads, config.head_width};
    default:
      return {config.hidden, config.heads, config.head_width};
  }
}

std::string plain_name(const Family& family, Slot slot) {
  const TensorPart part = tensor_part(family.name(slot));
  const bool gate = slot == Slot::kGate || slot == Slot::kSharedGate || slot == Slot::kShortGate;
  const char* end = part.parts <= 1 ? "" : gate ? "_gate" : slot == Slot::kShortOutGate ? "_out_gate" : "";
  return part.name + end;
}

std::string graph_name(const EncoderConfig& config, uint32_t layer, Slot slot) {
  const std::string place = config.groups == 0 ? layer_prefix(config, layer) : fmt::format("encoder.layer.{}.", layer);
  return fmt::format("{}.{}{}", config.family->base, place, plain_name(*config.family, slot));
}

}  // namespace bantam::convert
