#include "network/settings/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <tuple>

#include "network/settings/chunks.h"
#include "network/settings/clusters.h"
#include "network/settings/entities.h"
#include "network/settings/experts.h"
#include "network/settings/places.h"
#include "network/settings/summed_keys.h"
#include "source/packed_blocks.h"

namespace bantam::convert {
namespace {

// Largest values that make sense and keep every product within 64 bits.
constexpr uint32_t kMaxVocabulary = 1U << 24;
constexpr uint32_t kMaxWidth = 1U << 16;
constexpr uint32_t kMaxLayers = 1U << 10;
constexpr uint32_t kMaxConvolution = 31;

/// Values of "position_embedding_type": vectors of distances that multiply queries, or queries and keys.
constexpr std::string_view kQueriesAndDistances = "relative_key", kAllAndDistances = "relative_key_query";
bool is_of_distances(const std::string& positions) {
  return positions == kQueriesAndDistances || positions == kAllAndDistances;
}

/// Refuses settings that change the mathematics in ways that version 1 does not execute.
void refuse_unsupported(const Fields& config, const Family& family) {
  const Settings& settings = family.settings;
  const std::string positions = config.text("position_embedding_type", "absolute");
  const bool rotary = settings.rotary.otherwise != 0 && positions == "rope";
  const bool slopes = settings.slopes && positions == "alibi";
  const bool vectors = family.has(Slot::kDistanceKeys);
  if (positions != "absolute" && !rotary && !slopes && !(vectors && is_of_distances(positions))) {
    config.problem(ExitCode::kUnsupported, "position_embedding_type",
                   fmt::format("\"{}\" is not supported; {}", positions,
                               vectors ? "\"absolute\", \"relative_key\" and \"relative_key_query\" are"
                                       : "only \"absolute\" is"));
  }
  require(config, settings.required);
  if (config.flag("is_decoder", false) && !family.block.causal) {
    config.problem(ExitCode::kUnsupported, "is_decoder", "this family is supported as an encoder only");
  }
  if (config.flag("add_cross_attention", false)) {
    config.problem(ExitCode::kUnsupported, "add_cross_attention", "cross attention is not supported");
  }
  if (config.has("pruned_heads") && !config.raw("pruned_heads").empty()) {
    config.problem(ExitCode::kUnsupported, "pruned_heads", "layers with pruned heads are not supported yet");
  }
  if (config.has("quantization_config") && !has_packed_blocks(config.whole())) {
    config.problem(ExitCode::kUnsupported, "quantization_config",
                   "the weights are already quantized; start from the model before that");
  }
}

/// One count per layer under `key`; all are `otherwise` if the key is absent.
std::vector<uint32_t> per_layer(const Fields& layout, const char* key, const EncoderConfig& config,
                                uint32_t otherwise) {
  std::vector<uint32_t> values(config.layers, otherwise);
  if (!layout.has(key)) return values;
  const Json& list = layout.raw(key);
  if (!list.is_array() || list.size() != config.layers) {
    layout.problem(ExitCode::kInvalid, key,
                   fmt::format("is not a list of {} numbers, one for each layer", config.layers));
    return values;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number_unsigned() || list[i].get<uint64_t>() > kMaxWidth) {
      layout.problem(ExitCode::kInvalid, key,
                     fmt::format("{} is not a whole number up to {}", list[i].dump(), kMaxWidth));
      return values;
    }
    values[i] = list[i].get<uint32_t>();
  }
  return values;
}

void read_widths(const Fields& config, EncoderConfig& out, const char* heads_key) {
  static const Json kNone = Json::object();
  const bool own = config.has("bantam_layout") && config.raw("bantam_layout").is_object();
  Problems nothing;
  const Fields layout = own ? config.inside("bantam_layout") : Fields(kNone, "", nothing);
  const char* own_width = out.family->settings.head_width;
  if (layout.has("head_width")) {
    out.head_width = layout.count("head_width", kMaxWidth);
  } else if (own_width != nullptr && config.has(own_width)) {
    out.head_width = config.count(own_width, kMaxWidth);
  } else if (out.family->settings.head_width_otherwise != 0) {
    out.head_width = out.family->settings.head_width_otherwise;
  } else {
    const uint32_t parts = out.family->settings.width_parts;
    out.head_width = std::max(out.inner / out.heads / parts, 1U);
    if (out.inner % (out.heads * parts) != 0) {
      config.problem(ExitCode::kInvalid, heads_key,
                     fmt::format("{} heads do not divide {} columns", out.heads, out.inner));
    }
  }
  out.widths.heads = per_layer(layout, "heads", out, out.heads);
  out.widths.intermediate = per_layer(layout, "intermediate", out, out.intermediate);
  out.widths.shared = per_layer(layout, "shared", out, 0);
  for (uint32_t i = 0; i < out.layers; ++i) {
    if (!layout.has("shared")) out.widths.shared[i] = i;
    if (out.widths.heads[i] == 0 || out.widths.intermediate[i] == 0 || out.widths.shared[i] > i) {
      layout.problem(ExitCode::kInvalid, fmt::format("layer {}", i),
                     "has no heads, no feed-forward columns, or shares a later layer's weights");
    }
  }
  if (layout.has("embedding_rank")) out.embedding_rank = layout.count("embedding_rank", kMaxWidth);
}

/// Names the nearest known model_type, in one short line.
void refuse_model_type(const Fields& config, const std::string& model_type) {
  constexpr size_t kLongest = 64;  // longer than any model_type
  const std::string name = model_type.size() <= kLongest ? fmt::format("\"{}\"", model_type)
                                                         : fmt::format("a name of {} letters", model_type.size());
  const std::string nearest = nearest_model_type(model_type);
  const std::string what =
      model_type.empty()
          ? "is missing"
          : fmt::format("{} is not supported{}{}", name,
                        config.has("auto_map") ? "; code of its own (auto_map) is never run" : "",
                        nearest.empty() ? "" : fmt::format("; the nearest that converts is \"{}\"", nearest));
  config.problem(ExitCode::kUnsupported, "model_type", what + ". See all: bantam version --families");
}

/// The position table may begin with rows that no token uses.
void read_positions(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  const char* key = key_in(config, settings, settings.positions.key);
  out.positions = config.count(key, settings.any_length ? kMostPlaces : kMaxPositions, settings.positions.otherwise);
  out.first_position = settings.positions_in_front;
  if (settings.padding.key == nullptr && !settings.padding_is_fixed) return;
  const double padding = settings.padding_is_fixed ? settings.padding.otherwise
                                                   : config.number(settings.padding.key, settings.padding.otherwise);
  if (!(padding >= 0 && padding < out.positions - 1.0) || padding != std::floor(padding)) {
    config.problem(
        ExitCode::kInvalid, settings.padding_is_fixed ? key : settings.padding.key,
        fmt::format("{} leaves none of the {} positions to tokens, which begin behind it", padding, out.positions));
    return;
  }
  out.first_position = static_cast<uint32_t>(padding) + 1;
  if (!settings.rows_behind_padding) out.positions -= out.first_position;
}

uint32_t read_kv_heads(const Fields& config, const Settings& settings, uint32_t heads) {
  if (settings.one_kv_head.key != nullptr && !read_flag(config, settings.own_kv_heads)) {
    return read_flag(config, settings.one_kv_head) ? 1 : heads;
  }
  if (settings.kv_heads.key == nullptr) return heads;
  const uint32_t kv_heads = config.count(settings.kv_heads.key, kMaxWidth, settings.kv_heads.otherwise);
  return kv_heads == 0 ? heads : kv_heads;
}

/// Reads factors of embeddings, scores and residual sums.
void read_factors(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  const auto read = [&](const char* key, float otherwise) {
    if (key == nullptr || !config.has(key)) return otherwise;
    const double value = config.number(key, 1);
    if (!(value > 0 && value <= 1e6)) {
      config.problem(ExitCode::kInvalid, key, fmt::format("{} is not a number above 0, at most 1e6", value));
      return otherwise;
    }
    return static_cast<float>(value);
  };
  const bool scaled = settings.scaled_embeddings || read_flag(config, settings.scaled_if);
  out.embedding_factor =
      scaled ? static_cast<float>(std::sqrt(static_cast<double>(out.hidden))) : read(settings.embedding_factor, 1);
  out.score_scale =
      read(settings.score_factor, settings.score_factor == nullptr ? 0.0F : settings.score_factor_otherwise);
  if (out.family->block.unscaled) out.score_scale = 1;
  if (settings.score_width.key != nullptr) {
    const float width = read(settings.score_width.key, static_cast<float>(settings.score_width.otherwise));
    out.score_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
  }
  out.added_factor = read(settings.added_factor, 1);
  const char* cap = settings.soft_cap;
  const bool none = cap == nullptr || (config.stands(cap) && !config.has(cap));
  out.soft_cap = none ? 0 : read(cap, settings.soft_cap_otherwise);
}

/// MobileBERT's settings (arXiv 2004.02984).
void read_bottlenecks(const Fields& config, EncoderConfig& out) {
  out.inner = out.hidden;
  if (!out.family->block.bottlenecks) return;
  out.trigrams = config.flag("trigram_input", true);
  out.plain_pooler = !config.flag("classifier_activation", true);
  out.feed_forwards = config.count("num_feedforward_networks", kMaxLayers, 4);
  out.bottlenecks = config.flag("use_bottleneck", true);
  if (!out.bottlenecks) return;
  out.inner = config.count("intra_bottleneck_size", kMaxWidth, 128);
  if (config.flag("use_bottleneck_attention", false)) return;
  out.narrow_scores = config.flag("key_query_shared_bottleneck", true);
  if (!out.narrow_scores) {
    config.problem(ExitCode::kUnsupported, "key_query_shared_bottleneck",
                   "queries and keys without a bottleneck are not supported; use_bottleneck_attention gives them one");
  }
}

/// DeBERTa's settings (arXiv 2006.03654, 2111.09543). "pos_att_type" is a list, or "p2c|c2p".
void read_relative(const Fields& config, EncoderConfig& out) {
  out.position_table = has_role(out, Slot::kPositions);
  const std::string positions = config.text("position_embedding_type", "absolute");
  if (out.family->has(Slot::kDistanceKeys) && is_of_distances(positions)) {
    out.position_table = false;
    out.relative.vectors = out.relative.keys = true;
    out.relative.queries = positions == kAllAndDistances;
  }
  if (!out.family->block.places) return;
  out.position_table = config.flag("position_biased_input", true);
  RelativePlaces& places = out.relative;
  if (config.has("pos_att_type")) {
    const Json& types = config.raw("pos_att_type");
    for (const auto& [name, flag] : {std::pair("c2p", &places.keys), std::pair("p2c", &places.queries)}) {
      *flag = types.is_string() ? types.get<std::string>().find(name) != std::string::npos
                                : types.is_array() && std::find(types.begin(), types.end(), name) != types.end();
      places.terms += *flag ? 1 : 0;
    }
  }
  if (config.has("pooler_hidden_size") && config.raw("pooler_hidden_size") != out.hidden) {
    config.problem(ExitCode::kUnsupported, "pooler_hidden_size", "another width than hidden_size is not supported");
  }
  if (!config.flag("relative_attention", false)) {
    places.keys = places.queries = false;
    return;
  }
  const double most = config.number("max_relative_positions", -1);
  const bool second = out.family->has(Slot::kPlacesNorm);  // version 1 has no such settings
  const double buckets = second ? config.number("position_buckets", -1) : -1;
  if (!(most <= kMaxPositions && buckets <= kMaxPositions) || (buckets >= 1 && buckets < 4)) {
    config.problem(ExitCode::kInvalid, "max_relative_positions", "this or position_buckets is out of range");
    return;
  }
  places.most = most < 1 ? out.first_position + out.positions : static_cast<uint32_t>(most);
  places.buckets = buckets < 1 ? 0 : static_cast<uint32_t>(buckets);
  places.span = places.buckets != 0 ? places.buckets : places.most;
  places.shared = second && config.flag("share_att_key", false);
  places.norm = second && config.text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos;
}

/// XLNet's settings (arXiv 1906.08237).
void read_shift(const Fields& config, EncoderConfig& out) {
  if (!out.family->block.shifted) return;
  const double clamp = config.number("clamp_len", out.family->settings.clamp_otherwise);
  if (!(clamp <= kMaxPositions) || clamp != std::floor(clamp)) {
    config.problem(ExitCode::kInvalid, "clamp_len", "is not a number of tokens");
    return;
  }
  out.relative.clamp = clamp < 1 ? 0 : static_cast<uint32_t>(clamp);
  if (out.hidden % 2 != 0) {
    config.problem(ExitCode::kInvalid, "d_model", "an odd number of columns has no sinusoids of sines and cosines");
  }
}

/// Reads the convolution beside the first layer; with an even size torch's padding loses a token.
void read_convolution(const Fields& config, EncoderConfig& out) {
  constexpr const char* kSize = "conv_kernel_size";
  if (!out.family->has(Slot::kConvolution) || !config.has(kSize) || config.raw(kSize) == 0) return;
  out.convolution = config.count(kSize, kMaxConvolution);
  if (out.convolution % 2 == 0)
    config.problem(ExitCode::kInvalid, kSize, "convolutions are of an odd number of tokens");
  require(config, {{"conv_groups", "1"}});
  out.convolution_activation = read_activation(config, "conv_act", "tanh");
}

/// Reads the convolution over values.
void read_value_convolution(const Fields& config, EncoderConfig& out) {
  constexpr const char* kSize = "conv_kernel_size";
  constexpr uint32_t kMaxTaps = 255, kUsualTaps = 65;
  if (!out.family->has(Slot::kValueConvolution) || (config.stands(kSize) && !config.has(kSize))) return;
  out.value_taps = config.count(kSize, kMaxTaps, kUsualTaps);
  if (out.value_taps % 2 == 0) config.problem(ExitCode::kInvalid, kSize, "convolutions are of an odd number of tokens");
}

/// Reads the sides of an image in pixels: one number, or height and width.
std::pair<uint32_t, uint32_t> read_sides(const Fields& config, const char* key, uint32_t most, uint32_t otherwise) {
  if (!config.has(key) || !config.raw(key).is_array()) {
    const uint32_t side = config.count(key, most, otherwise);
    return {side, side};
  }
  const Json& both = config.raw(key);
  const auto is_side = [&](const Json& n) { return n.is_number_unsigned() && n.get<uint64_t>() - 1 < most; };
  if (both.size() != 2 || !is_side(both[0]) || !is_side(both[1])) {
    config.problem(ExitCode::kInvalid, key, fmt::format("is not a list of two numbers from 1 to {}", most));
    return {otherwise, otherwise};
  }
  return {both[0].get<uint32_t>(), both[1].get<uint32_t>()};
}

void read_image_shape(const Fields& config, EncoderConfig& out) {
  if (!out.family->block.patches) return;
  constexpr uint32_t kMostSide = 1U << 14, kMostPatch = 1U << 10, kMostChannels = 128;
  ImageShape& image = out.image;
  std::tie(image.height, image.width) = read_sides(config, "image_size", kMostSide, 224);
  const auto [patch, patch_width] = read_sides(config, "patch_size", kMostPatch, out.family->settings.patch_otherwise);
  image.patch = patch;
  image.channels = config.count("num_channels", kMostChannels, 3);
  image.in_front = out.family->has(Slot::kWholeImage) ? 1 : 0;
  image.behind = out.family->has(Slot::kTeacherToken) ? 1 : 0;
  if (patch != patch_width || image.height % patch != 0 || image.width % patch != 0) {
    config.problem(ExitCode::kUnsupported, "patch_size",
                   fmt::format("patches of {}x{} pixels do not share an image of {}x{} out in squares", patch,
                               patch_width, image.height, image.width));
    image.patch = image.height = image.width = 1;
  }
  out.positions = image.tokens();
}

void read_layers(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  const char* key = key_in(config, settings, settings.layers.key);
  const uint32_t rounds =
      key == nullptr ? settings.layers.otherwise : config.count(key, kMaxLayers, settings.layers.otherwise);
  out.layers = rounds * out.inner_layers;
  if (out.groups > rounds || out.layers > kMaxLayers) {
    config.problem(ExitCode::kInvalid, settings.layers.key,
                   fmt::format("{} layers of {} inner ones are fewer than the {} groups, or more than {}", rounds,
                               out.inner_layers, out.groups, kMaxLayers));
    out.groups = std::min(out.groups, rounds);
    out.layers = rounds;
    out.inner_layers = 1;
  }
}

fb::ActivationKind read_activation_name(const Fields& config, const std::string& key, const std::string& name);

}  // namespace

const char* key_in(const Fields& config, const Settings& settings, const char* key) {
  if (key == nullptr || config.has(key)) return key;
  for (const auto& [other, known] : settings.synonyms) {
    if (std::string_view(known) == key && config.has(other)) return other;
  }
  // transformers reads some settings of every model under common names, even if the model uses other keys
  // (attribute_map). For encoder-decoders those names mean the encoder.
  if (std::string_view(key).substr(0, 8) == "decoder_") return key;
  const std::pair<const char*, const char*> common[] = {{settings.hidden.key, "hidden_size"},
                                                        {settings.layers.key, "num_hidden_layers"},
                                                        {settings.heads.key, "num_attention_heads"},
                                                        {settings.positions.key, "max_position_embeddings"}};
  for (const auto& [known, other] : common) {
    if (known == key && config.has(other)) return other;
  }
  return key;
}

bool read_flag(const Fields& config, const Flag& flag) {
  if (flag.key == nullptr) return flag.otherwise;
  const bool null = config.stands(flag.key) && !config.has(flag.key);  // null is falsy in Python
  return !null && config.flag(flag.key, flag.otherwise);
}

void require(const Fields& config, const std::vector<std::pair<const char*, const char*>>& settings) {
  for (const auto& [key, value] : settings) {
    if (config.has(key) && config.raw(key) != Json::parse(value)) {
      config.problem(ExitCode::kUnsupported, key, fmt::format("only {} is supported", value));
    }
  }
}

fb::ActivationKind read_activation(const Fields& config, const std::string& key, const std::string& otherwise) {
  return read_activation_name(config, key, config.text(key, otherwise));
}

namespace {

fb::ActivationKind read_activation_name(const Fields& config, const std::string& key, const std::string& name) {
  struct Known {
    fb::ActivationKind kind;
    const char* names;
  };
  static constexpr Known kKnown[] = {
#define BANTAM_ACTIVATION(kind, name, formula, names) {fb::ActivationKind::kind, names},
#include "kernels/activations.inc"
#undef BANTAM_ACTIVATION
      {fb::ActivationKind::none, "linear"}};
  std::string all;
  for (const Known& known : kKnown) {
    std::istringstream names(known.names);
    for (std::string one; names >> one;) {
      if (one == name) return known.kind;
      all += (all.empty() ? "" : ", ") + one;
    }
  }
  config.problem(ExitCode::kUnsupported, key,
                 fmt::format("activation \"{}\" is not supported; those that are: {}", name, all));
  return fb::ActivationKind::gelu;
}

EncoderConfig read_as(const Fields& config, const Family& family);

/// Reads the buckets of T5's distance biases.
void read_buckets(const Fields& config, uint32_t buckets, uint32_t most, EncoderConfig& out) {
  if (!out.family->has(Slot::kDistances)) return;
  const uint32_t both = out.family->block.causal ? 1 : 2;
  if (buckets % 2 != 0 || buckets < 2 * both || most <= buckets / (2 * both)) {
    config.problem(ExitCode::kInvalid, out.family->settings.buckets.key,
                   fmt::format("{} buckets up to a distance of {} are none of T5's", buckets, most));
    buckets = 32;
    most = 128;
  }
  out.buckets = buckets;
  out.most_distance = most;
}

/// Reads the activation of feed-forward layers; for gated ones the name may include the gate (arXiv 2002.05202).
fb::ActivationKind read_unit(const Fields& config, const char* key, const Family& family) {
  if (key == nullptr) return read_activation_name(config, "activation", family.settings.activation_otherwise);
  std::string name = config.text(key, family.settings.activation_otherwise);
  constexpr std::string_view kGated = "gated-";  // T5's
  if (family.has(Slot::kGate) && name.compare(0, kGated.size(), kGated) == 0) {
    name.erase(0, kGated.size());
    if (family.settings.tanh_gelu && name == "gelu") return fb::ActivationKind::gelu_tanh;
    return read_activation_name(config, key, name);
  }
  if (family.has(Slot::kGate) && name == "swiglu") return fb::ActivationKind::silu;
  if (family.has(Slot::kGate) && name == "geglu") return fb::ActivationKind::gelu;
  if (family.has(Slot::kGate) && name == "reglu") return fb::ActivationKind::relu;
  if (family.settings.tanh_gelu && name == "gelu") return fb::ActivationKind::gelu_tanh;
  return read_activation(config, key, family.settings.activation_otherwise);
}

}  // namespace

EncoderConfig read_encoder_config(const Fields& config) {
  const std::string model_type = config.text("model_type", "");
  const Family* family = find_family(model_type);
  if (family != nullptr) return read_as(config, *family);
  refuse_model_type(config, model_type);
  EncoderConfig none;  // the other keys depend on the family
  none.model_type = model_type;
  return none;
}

EncoderConfig read_source_config(const Fields& config, const Family& family) { return read_as(config, *family.source); }

namespace {

EncoderConfig read_as(const Fields& config, const Family& family) {
  EncoderConfig out;
  out.model_type = config.text("model_type", "");
  out.family = &family;
  const Settings& settings = out.family->settings;
  const auto count = [&](const Count& setting, uint32_t max) {
    const char* key = key_in(config, settings, setting.key);
    return key == nullptr ? setting.otherwise : config.count(key, max, setting.otherwise);
  };
  refuse_unsupported(config, *out.family);
  out.vocabulary = count(settings.vocabulary, kMaxVocabulary);
  const char* segments = settings.segments.key;
  const bool no_segments = segments != nullptr && config.has(segments) && config.raw(segments) == 0;
  out.segments = no_segments ? 0 : count(settings.segments, kMaxWidth);
  out.segment_rows = out.segments;
  out.hidden = count(settings.hidden, kMaxWidth);
  out.inner_layers = count(settings.inner_layers, kMaxLayers);
  out.groups = count(settings.groups, kMaxLayers);
  out.heads = count(settings.heads, kMaxWidth);
  const bool multiple =
      settings.widening != 0 && (settings.intermediate.key == nullptr || !config.has(settings.intermediate.key));
  out.intermediate = multiple ? settings.widening * out.hidden : count(settings.intermediate, kMaxWidth);
  out.kv_heads = read_kv_heads(config, settings, out.heads);
  out.parallel = read_flag(config, settings.parallel);
  out.head_norms = read_flag(config, settings.head_norms);
  out.causal = out.family->block.causal && !read_flag(config, settings.both_ways);
  if (out.causal) out.mask = fb::MaskKind::causal;
  if (out.family->settings.read_mask != nullptr) out.family->settings.read_mask(config, out);
  read_factors(config, out);
  if (out.heads % out.kv_heads != 0) {
    config.problem(ExitCode::kInvalid, settings.kv_heads.key,
                   fmt::format("{} heads of keys and values do not divide {} heads", out.kv_heads, out.heads));
    out.kv_heads = out.heads;
  }
  out.activation = read_unit(config, key_in(config, settings, settings.activation), *out.family);
  if (!family.block.patches) read_positions(config, out);
  read_image_shape(config, out);
  read_layers(config, out);
  if (settings.settle != nullptr) settings.settle(config, out);
  read_chunks(config, out);
  const bool narrows =
      settings.embedding.key != nullptr && (settings.embedding.otherwise != 0 || config.has(settings.embedding.key));
  out.embedding = narrows ? count(settings.embedding, kMaxWidth) : out.hidden;
  read_clusters(config, out);
  read_bottlenecks(config, out);
  read_relative(config, out);
  read_shift(config, out);
  read_convolution(config, out);
  read_value_convolution(config, out);
  read_entities(config, out);
  read_experts(config, out);
  // ELECTRA has a projection only if the widths differ; ALBERT and RemBERT always have one.
  out.projects =
      out.family->has(Slot::kEmbeddingProjection) && (out.embedding != out.hidden || out.family->shares_layers() ||
                                                      out.trigrams || out.family->block.always_projected);
  if (settings.task_types_if == nullptr || config.flag(settings.task_types_if, false)) {
    out.task_types = count(settings.task_types, kMaxWidth);
  }
  const char* epsilon_key = key_in(config, settings, settings.epsilon);
  const double epsilon =
      epsilon_key != nullptr ? config.number(epsilon_key, settings.epsilon_otherwise) : settings.epsilon_otherwise;
  if (!(epsilon > 0 && epsilon < 1)) {
    config.problem(ExitCode::kInvalid, epsilon_key == nullptr ? "epsilon" : epsilon_key,
                   fmt::format("{} is not between 0 and 1", epsilon));
  }
  out.epsilon = static_cast<float>(epsilon);
  out.tie_embeddings = config.flag(key_in(config, settings, "tie_word_embeddings"), !settings.untied);
  const bool divides = settings.divides == Settings::Divides::kTied && out.tie_embeddings;
  out.divides_last = settings.divides != Settings::Divides::kNever && config.flag("scale_decoder_outputs", divides);
  read_widths(config, out, settings.heads.key);
  read_places(config, out);
  read_summed_keys(config, out);
  read_buckets(config, count(settings.buckets, kMaxWidth), count(settings.most_distance, kMaxWidth), out);
  return out;
}

}  // namespace

}  // namespace bantam::convert
