#include "network/settings/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace bantam::convert {
namespace {

/// Reads a number of a scaling; outside [least, most] it is a problem.
double number_in(const Fields& fields, const char* key, double otherwise, double least, double most) {
  const double value = fields.has(key) ? fields.number(key, otherwise) : otherwise;
  if (value >= least && value <= most) return value;
  fields.problem(ExitCode::kInvalid, key, fmt::format("{} is not a number from {} to {}", value, least, most));
  return otherwise;
}

/// YaRN's factor of cosines and sines.
double amplitude_of(double factor, double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; }

std::vector<double> divisors(const Fields& scaling, const char* key, uint32_t angles) {
  std::vector<double> out;
  const Json list = scaling.has(key) ? scaling.raw(key) : Json();
  for (const Json& value : list.is_array() ? list : Json::array()) {
    if (value.is_number() && value.get<double>() > 0 && value.get<double>() <= 1e9) out.push_back(value.get<double>());
  }
  if (out.size() == angles && list.size() == angles) return out;
  scaling.problem(ExitCode::kInvalid, key, fmt::format("is not a list of {} numbers above 0", angles));
  return std::vector<double>(angles, 1);
}

/// Applies published scalings of rotary positions. "linear": angles are divided by the factor. "dynamic": only "alpha"
/// changes the base (Hunyuan); otherwise the base would grow only for texts beyond the model's positions, which files
/// do not accept. "ntk": the base is multiplied by the factor, and angles are divided by factor^(2 / columns), so that
/// the slowest angle shrinks by the factor. "llama3", "yarn", "longrope": see Rotary. `config`: the settings around
/// those of the scaling.
void scale(const Fields& config, const Fields& scaling, const EncoderConfig& out, uint32_t turned, Rotary* rotary) {
  const std::string type = scaling.text("rope_type", scaling.text("type", "default"));
  const bool longer = type == "longrope" || type == "su";
  constexpr const char *kOriginal = "original_max_position_embeddings", *kAlpha = "alpha";
  if (type == "dynamic" && scaling.has(kAlpha) && turned > 2) {
    rotary->base *= std::pow(number_in(scaling, kAlpha, 1, 1e-6, 1e9), turned / (turned - 2.0));
  }
  if (type == "default" || type == "dynamic" || type == "mrope") return;
  if (rotary->step < 0) {
    scaling.problem(ExitCode::kUnsupported, "rope_type", "rotary positions of this family are supported unscaled only");
    return;
  }
  if (!longer && type != "yarn" && type != "linear" && type != "llama3" && (type != "ntk" || scaling.has("mixed_b"))) {
    scaling.problem(ExitCode::kUnsupported, scaling.has("rope_type") ? "rope_type" : "type",
                    fmt::format("rotary positions scaled by \"{}\" are not supported; \"linear\", \"dynamic\", "
                                "\"llama3\", \"yarn\", \"longrope\" and \"ntk\" are",
                                type));
    return;
  }
  const auto positions = static_cast<double>(out.positions);
  rotary->original = number_in(config.has(kOriginal) ? config : scaling, kOriginal, positions, 1, kMaxPositions);
  const bool stated = scaling.has("factor");
  const double factor = stated                     ? number_in(scaling, "factor", 1, 1, 1e6)
                        : longer || type == "yarn" ? positions / rotary->original
                                                   : 1;
  if (type == "linear") rotary->step = 1 / factor;
  if (type == "ntk") {
    rotary->base *= factor;
    rotary->step = std::pow(factor, -2.0 / turned);
  }
  if (type == "llama3") {
    rotary->factor = factor;
    rotary->low = number_in(scaling, "low_freq_factor", rotary->low, 1e-6, 1e6);
    rotary->high = number_in(scaling, "high_freq_factor", rotary->high, rotary->low * (1 + 1e-6), 1e6);
  }
  if (type == "yarn") {
    if (rotary->columns != 0) {
      scaling.problem(ExitCode::kUnsupported, "rope_type", "\"yarn\" is supported for even numbers of columns only");
    }
    rotary->kind = Rotary::Kind::kColumns;
    rotary->factor = factor;
    rotary->high = number_in(scaling, "beta_fast", 32, 1e-6, 1e6);
    rotary->low = number_in(scaling, "beta_slow", 1, 1e-6, 1e6);
    rotary->whole = scaling.flag("truncate", true);
    const double scale = scaling.number("mscale", 0), all = scaling.number("mscale_all_dim", 0);
    rotary->amplitude =
        scale != 0 && all != 0 ? amplitude_of(factor, scale) / amplitude_of(factor, all) : amplitude_of(factor, 1);
  }
  if (longer) {
    rotary->divisors = divisors(scaling, "long_factor", turned / 2);
    rotary->short_divisors = divisors(scaling, "short_factor", turned / 2);
    if (factor > 1 && rotary->original > 1) {
      rotary->amplitude = std::sqrt(1 + std::log(factor) / std::log(rotary->original));
    }
  }
  if (longer || type == "yarn") {
    rotary->amplitude = number_in(scaling, "attention_factor", rotary->amplitude, 1e-3, 1e3);
  }
}

/// Columns of a head that are rotated.
uint32_t turned_columns(const Fields& config, const Fields& parameters, const Settings::Rotary& rotary,
                        uint32_t head_width) {
  if (rotary.width_key != nullptr) {
    if (!config.has(rotary.width_key) && rotary.width_otherwise != 0) return rotary.width_otherwise;
    if (config.has(rotary.width_key)) return config.count(rotary.width_key, kMaxPositions, rotary.width_otherwise);
  }
  constexpr const char* kPart = "partial_rotary_factor";
  if (rotary.part == 1 && !rotary.part_if_said) {
    // transformers rotates whole heads here, or fails.
    for (const Fields* fields : {&parameters, &config}) {
      if (fields->has(kPart) && fields->raw(kPart) != 1) {
        fields->problem(ExitCode::kUnsupported, kPart, "whole heads are turned in this family: only 1 is supported");
        break;
      }
    }
    return head_width;
  }
  const bool inside = &parameters.whole() != &config.whole() && parameters.has(kPart);
  const double part = inside
                          ? number_in(parameters, kPart, rotary.part, 0, 1)
                          : number_in(config, rotary.part_key != nullptr ? rotary.part_key : kPart, rotary.part, 0, 1);
  return static_cast<uint32_t>(static_cast<double>(head_width) * part);
}

/// Reads rotary positions from rope_parameters (for layers of `kind` if they differ by kind), or from the family's own
/// keys. `scaled`: "rope_scaling" applies, too.
LayerPlaces read_rotary(const Fields& config, const Settings::Rotary& rotary, const char* kind,
                        const EncoderConfig& model, bool scaled) {
  LayerPlaces places;
  Rotary& out = places.rotary;
  out.base = rotary.otherwise;
  if (rotary.otherwise == 0) return places;
  const char* key = key_in(config, model.family->settings, rotary.key);
  if (key != nullptr) out.base = config.number(key, rotary.otherwise);
  const bool apart_from_scaling = config.has("rope_scaling") && config.raw("rope_scaling").is_object();
  const bool has_parameters = config.has("rope_parameters") && config.raw("rope_parameters").is_object();
  const Fields all = has_parameters ? config.inside("rope_parameters") : config;
  const bool apart = has_parameters && all.has(kind) && all.raw(kind).is_object();
  const Fields parameters = apart ? all.inside(kind) : all;
  if (has_parameters) out.base = parameters.number("rope_theta", out.base);
  if (!(out.base > 1 && out.base <= 1e12)) {
    config.problem(ExitCode::kInvalid, rotary.key == nullptr ? "rope_theta" : rotary.key,
                   "the base of rotary positions is not a number above 1, at most 1e12");
    out.base = rotary.otherwise;
  }
  places.turned = turned_columns(config, parameters, rotary, model.head_width);
  if (rotary.odd_part && places.turned % 2 != 0 && places.turned < model.head_width) out.columns = places.turned++;
  if (places.turned % 2 != 0 || places.turned == 0 || places.turned > model.head_width) {
    config.problem(ExitCode::kUnsupported, model.family->settings.heads.key,
                   fmt::format("rotary positions turn an even number of a head's {} columns, not {}", model.head_width,
                               places.turned));
    places.turned = 2;
  }
  if (rotary.backwards) out.step = -1;
  if (apart_from_scaling && scaled) {
    scale(config, config.inside("rope_scaling"), model, places.turned, &out);
  } else if (has_parameters) {
    scale(config, parameters, model, places.turned, &out);
    if (apart && !out.whole) {
      parameters.problem(ExitCode::kUnsupported, "truncate",
                         "transformers ignores it for kinds of layers: leave it out");
    }
  } else if (rotary.parameters_otherwise != nullptr) {
    const Json otherwise = Json::parse(rotary.parameters_otherwise);
    scale(config, config.of(otherwise, "rope_parameters"), model, places.turned, &out);
  }
  return places;
}

/// For each layer of "layer_types", whether it sees all tokens. Empty: there is no such list.
std::vector<bool> listed_layers(const Fields& config, const EncoderConfig& out) {
  std::vector<bool> full;
  if (!config.has("layer_types")) return full;
  const Json kinds = config.raw("layer_types");
  full.assign(out.layers, true);
  if (!kinds.is_array() || kinds.size() != out.layers) {
    config.problem(ExitCode::kInvalid, "layer_types", "is not a list of a word a layer");
    return full;
  }
  for (uint32_t i = 0; i < out.layers; ++i) {
    full[i] = kinds[i] == "full_attention";
    if (!full[i] && kinds[i] != "sliding_attention") {
      config.problem(ExitCode::kUnsupported, "layer_types", "only full_attention and sliding_attention are supported");
    }
  }
  return full;
}

constexpr const char* kAttentionTypes = "attention_types";

/// GPT-Neo's "attention_types": lists of words, and how often each list repeats.
std::vector<bool> layers_by_kinds(const Fields& config, const EncoderConfig& out) {
  std::vector<bool> full;
  bool known = true;
  const Json types =
      config.has(kAttentionTypes) ? config.raw(kAttentionTypes) : Json::parse(out.family->settings.kinds);
  for (const Json& part : types.is_array() ? types : Json::array()) {
    known = known && part.is_array() && part.size() == 2 && part[0].is_array() && part[1].is_number_unsigned();
    if (!known) break;
    for (uint64_t i = 0; i < part[1].get<uint64_t>() && full.size() <= out.layers; ++i) {
      for (const Json& word : part[0]) {
        known = known && (word == "global" || word == "local");
        full.push_back(word == "global");
      }
      if (part[0].empty()) break;
    }
  }
  if (!known || full.size() != out.layers) {
    config.problem(ExitCode::kInvalid, kAttentionTypes,
                   fmt::format("is not a list of words \"global\" and \"local\" and how often they stand, {} layers in "
                               "all",
                               out.layers));
    full.assign(out.layers, true);
  }
  return full;
}

/// Removes rotary positions from some layers (SmolLM 3).
void leave_some_unturned(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  if (settings.turned_layers == nullptr) return;
  const Json list = config.has(settings.turned_layers) ? config.raw(settings.turned_layers) : Json();
  const bool listed = list.is_array() && list.size() == out.layers;
  if (!listed && !list.is_null()) {
    config.problem(ExitCode::kInvalid, settings.turned_layers, "is not a list of 0 and 1, one for each layer");
    return;
  }
  const uint32_t every =
      listed ? 0 : config.count(settings.unturned_every.key, kMaxPositions, settings.unturned_every.otherwise);
  for (uint32_t i = 0; i < out.layers; ++i) {
    const bool turned = listed ? list[i] != 0 : every == 0 || (i + 1) % every != 0;
    if (!turned) out.places[i].rotary = {};
  }
}

/// Reads a rotary base for each layer.
void read_layer_bases(const Fields& config, EncoderConfig& out) {
  const char* key = out.family->settings.layer_bases;
  if (key == nullptr || !config.has(key)) return;
  const Json& list = config.raw(key);
  const auto fits = [](const Json& base) {
    return base.is_number() && (base == 0 || (base.get<double>() > 1 && base.get<double>() <= 1e12));
  };
  if (!list.is_array() || list.size() != out.layers || !std::all_of(list.begin(), list.end(), fits)) {
    config.problem(ExitCode::kInvalid, key, "is not a list of 0 or of a number above 1, one for each layer");
    return;
  }
  for (uint32_t i = 0; i < out.layers; ++i) {
    out.places[i].rotary.base = list[i].get<double>();
    if (out.places[i].rotary.base == 0) out.places[i].rotary = {};
  }
}

/// Reads the windows of decoders.
void read_causal_windows(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  if (settings.window.key == nullptr) return;
  const bool local = settings.local_rotary.otherwise != 0;
  const bool asked = settings.windows == Settings::Windows::kAll    ? config.has(settings.window.key)
                     : settings.windows == Settings::Windows::kFrom ? config.flag("use_sliding_window", false)
                     : settings.windows == Settings::Windows::kKinds
                         ? settings.kinds != nullptr || config.has(kAttentionTypes)
                     : settings.windows == Settings::Windows::kUnturned
                         ? config.flag("use_sliding_window", false) && config.has(settings.window.key)
                         : config.has(settings.window.key) || !config.stands(settings.window.key);
  std::vector<bool> full = listed_layers(config, out);
  if (!asked) return;
  const bool itself = settings.window_counts_itself == nullptr || config.flag(settings.window_counts_itself, true);
  const uint32_t seen = config.count(settings.window.key, kMaxPositions, settings.window.otherwise) + (itself ? 0 : 1);
  if (full.empty() && settings.windows == Settings::Windows::kKinds) full = layers_by_kinds(config, out);
  if (full.empty() && settings.windows == Settings::Windows::kEvery) {
    const Count& rule = settings.full_every;
    const uint32_t every = rule.key == nullptr ? rule.otherwise : config.count(rule.key, kMaxPositions, rule.otherwise);
    for (uint32_t i = 0; i < out.layers; ++i) full.push_back((settings.full_first ? i : i + 1) % every == 0);
  }
  if (full.empty() && settings.windows == Settings::Windows::kUnturned) {
    for (const LayerPlaces& places : out.places) full.push_back(places.rotary.base != 0);
  }
  if (full.empty()) {
    const bool from = settings.windows == Settings::Windows::kFrom;
    const double first = from ? config.number("max_window_layers", 28) : 0;
    for (uint32_t i = 0; i < out.layers; ++i) full.push_back(i < first);
  }
  out.places.resize(out.layers);
  LayerPlaces near;
  if (local) near = read_rotary(config, settings.local_rotary, "sliding_attention", out, false);
  for (uint32_t i = 0; i < out.layers; ++i) {
    if (full[i] && settings.turned_in_windows) out.places[i].rotary = {};
    if (full[i]) continue;
    if (local) out.places[i] = near;
    out.places[i].window = out.causal ? seen - 1 : seen / 2;
    out.places[i].sees_all = false;
  }
}

/// Reads one number under `key` for all layers, or one per layer; `fits(number)` accepts valid ones. Returns
/// `otherwise` if the key is absent, or after a problem.
template <typename Fits>
std::vector<uint32_t> each_layer(const Fields& config, const char* key, const EncoderConfig& out, uint32_t otherwise,
                                 const Fits& fits, const char* what) {
  std::vector<uint32_t> values(out.layers, otherwise);
  if (key == nullptr || !config.has(key)) return values;
  const Json& all = config.raw(key);
  const auto value = [&](size_t i) -> const Json& { return all.is_array() ? all[i] : all; };
  if (all.is_array() && all.size() != out.layers) {
    config.problem(ExitCode::kInvalid, key,
                   fmt::format("lists {} numbers, and there are {} layers", all.size(), out.layers));
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Json& one = value(i);
    if (!one.is_number_unsigned() || one.get<uint64_t>() > kMaxPositions || !fits(one.get<uint32_t>())) {
      config.problem(ExitCode::kInvalid, key, fmt::format("{} is not {}", one.dump(), what));
      return std::vector<uint32_t>(out.layers, otherwise);
    }
    values[i] = one.get<uint32_t>();
  }
  return values;
}

/// Reads Longformer's windows, and the token that separates its texts.
void read_spans(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  const std::vector<uint32_t> spans = each_layer(
      config, settings.spans, out, 512, [](uint32_t n) { return n != 0 && n % 2 == 0; },
      "an even number of tokens above 0, half of them on each side");
  const std::vector<uint32_t> steps = each_layer(
      config, settings.dilations, out, 1, [](uint32_t n) { return n != 0; }, "a number of tokens above 0");
  out.places.resize(out.layers);
  for (uint32_t i = 0; i < out.layers; ++i) {
    out.places[i].sees_all = false;
    out.places[i].window = spans[i] / 2;
    out.places[i].dilation = steps[i];
  }
  const double separator = config.number("sep_token_id", 2);
  if (!(separator >= 0 && separator < out.vocabulary) || separator != std::floor(separator)) {
    config.problem(ExitCode::kInvalid, "sep_token_id", "is not a token of the vocabulary");
    return;
  }
  out.separator = static_cast<uint32_t>(separator);
}

/// Reads Big Bird's blocks.
void read_blocks(const Fields& config, EncoderConfig& out) {
  const std::string type = config.text("attention_type", "block_sparse");
  if (type == "original_full") return;
  if (type != "block_sparse") {
    config.problem(ExitCode::kUnsupported, "attention_type",
                   fmt::format("\"{}\" is not supported; \"block_sparse\" and \"original_full\" are", type));
    return;
  }
  constexpr uint32_t kMostRandom = 15;  // the file has room for 15 (schemas/bantam.fbs)
  const double random = config.number("num_random_blocks", 3);
  if (!(random >= 0 && random <= kMostRandom) || random != std::floor(random)) {
    config.problem(ExitCode::kInvalid, "num_random_blocks",
                   fmt::format("{} is not a whole number from 0 to {}", random, kMostRandom));
    return;
  }
  out.blocks.size = config.count("block_size", 1U << 14, 64);
  out.blocks.random = static_cast<uint32_t>(random);
}

}  // namespace

void read_places(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  const bool causal = out.family->block.causal;
  if (settings.rotary.otherwise != 0) {
    out.places.assign(out.layers, read_rotary(config, settings.rotary, "full_attention", out, true));
    leave_some_unturned(config, out);
    read_layer_bases(config, out);
  }
  if (causal) return read_causal_windows(config, out);
  if (settings.blocks) read_blocks(config, out);
  if (settings.spans != nullptr) read_spans(config, out);
  if (settings.window.key == nullptr) return;
  const LayerPlaces local = read_rotary(config, settings.local_rotary, "sliding_attention", out, true);
  const uint32_t seen = config.count(settings.window.key, kMaxPositions, settings.window.otherwise);
  const uint32_t window = settings.window_each_side ? seen : seen / 2;
  const Count& rule = settings.full_every;
  const uint32_t every = rule.key == nullptr ? rule.otherwise : config.count(rule.key, kMaxPositions, rule.otherwise);
  if (window == 0) config.problem(ExitCode::kUnsupported, settings.window.key, "a window of no tokens");
  const std::vector<bool> full = listed_layers(config, out);
  for (uint32_t i = 0; i < out.layers; ++i) {
    if (!full.empty() ? full[i] : (settings.full_first ? i : i + 1) % every == 0) continue;
    out.places[i] = local;
    out.places[i].window = window;
    out.places[i].sees_all = false;
  }
}

}  // namespace bantam::convert
