#include "import/families/places.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

namespace bantam::convert {
namespace {

/// Published scalings of rotary positions. "linear": angles are divided by the factor. "ntk": the base is multiplied by it, and angles
/// divided by its power 2 / head width, so that the slowest turns by the factor more slowly. "llama3": see Rotary.
void scale(const Fields& scaling, uint32_t head_width, Rotary* rotary) {
  const std::string type = scaling.text("rope_type", scaling.text("type", "default"));
  if (type == "default") return;
  const double factor = scaling.number("factor", 1);
  const bool known = type == "linear" || type == "llama3" || (type == "ntk" && !scaling.has("mixed_b"));
  if (!known || !(factor >= 1 && factor <= 1e6)) {
    scaling.problem(
        ExitCode::kUnsupported, scaling.has("rope_type") ? "rope_type" : "type",
        fmt::format("rotary positions scaled by \"{}\" (factor {}) are not supported; \"linear\", \"llama3\" "
                    "and \"ntk\" with a factor of 1 or more are",
                    type, factor));
    return;
  }
  if (type == "linear") rotary->step = 1 / factor;
  if (type == "ntk") {
    rotary->base *= factor;
    rotary->step = std::pow(factor, -2.0 / head_width);
  }
  if (type != "llama3") return;
  rotary->factor = factor;
  rotary->low = scaling.number("low_freq_factor", rotary->low);
  rotary->high = scaling.number("high_freq_factor", rotary->high);
  rotary->original = scaling.number("original_max_position_embeddings", rotary->original);
  if (!(rotary->low > 0 && rotary->high > rotary->low && rotary->high < 1e6 && rotary->original >= 1 &&
        rotary->original <= kMaxPositions)) {
    scaling.problem(ExitCode::kInvalid, "low_freq_factor",
                    "this, high_freq_factor or original_max_position_embeddings is out of range");
  }
}

/// Rotary positions from rope_parameters (of `kind` of layers, where it tells them apart), or a key of their own.
Rotary read_rotary(const Fields& config, const Settings::Rotary& rotary, const char* kind, uint32_t head_width) {
  Rotary out;
  out.base = rotary.otherwise;
  if (rotary.otherwise == 0) return out;
  if (rotary.key != nullptr) out.base = config.number(rotary.key, rotary.otherwise);
  const bool apart_from_scaling = config.has("rope_scaling") && config.raw("rope_scaling").is_object();
  const auto read = [&](const Fields& fields) {
    out.base = fields.number("rope_theta", out.base);
    if (fields.number("partial_rotary_factor", 1) != 1) {
      fields.problem(ExitCode::kUnsupported, "partial_rotary_factor",
                     "heads that are turned in part are not supported");
    }
    if (!apart_from_scaling) scale(fields, head_width, &out);
  };
  if (config.has("rope_parameters") && config.raw("rope_parameters").is_object()) {
    const Fields all = config.inside("rope_parameters");
    const bool apart = all.has(kind) && all.raw(kind).is_object();
    read(apart ? all.inside(kind) : all);
  }
  if (!(out.base >= 1 && out.base <= 1e12)) {
    config.problem(ExitCode::kInvalid, rotary.key == nullptr ? "rope_theta" : rotary.key,
                   "the base of rotary positions is not a number from 1 to 1e12");
    out.base = rotary.otherwise;
  }
  if (apart_from_scaling) scale(config.inside("rope_scaling"), head_width, &out);
  return out;
}

/// The kind of each layer, where "layer_types" lists them: does it see all tokens? Empty: it does not list them.
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

/// GPT-Neo's "attention_types": words and how often the row of them stands in a row.
std::vector<bool> layers_by_kinds(const Fields& config, const EncoderConfig& out) {
  constexpr const char* kTypes = "attention_types";
  std::vector<bool> full;
  bool known = true;
  const Json types = config.has(kTypes) ? config.raw(kTypes) : Json::parse(R"([[["global", "local"], 12]])");
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
    config.problem(ExitCode::kInvalid, kTypes,
                   fmt::format("is not a list of words \"global\" and \"local\" and how often they stand, {} layers in "
                               "all",
                               out.layers));
    full.assign(out.layers, true);
  }
  return full;
}

/// Windows of decoders.
void read_causal_windows(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  if (settings.window.key == nullptr) return;
  // kAll and kFrom: in no layer, unless the settings say so.
  const bool asked = settings.windows == Settings::Windows::kAll    ? config.has(settings.window.key)
                     : settings.windows == Settings::Windows::kFrom ? config.flag("use_sliding_window", false)
                                                                    : true;
  std::vector<bool> full = listed_layers(config, out);
  if (!asked) return;
  const uint32_t seen = config.count(settings.window.key, kMaxPositions, settings.window.otherwise);
  if (full.empty() && settings.windows == Settings::Windows::kKinds) full = layers_by_kinds(config, out);
  if (full.empty()) {
    const bool from = settings.windows == Settings::Windows::kFrom;
    const double first = from ? config.number("max_window_layers", 28) : 0;
    for (uint32_t i = 0; i < out.layers; ++i) full.push_back(i < first);
  }
  out.places.resize(out.layers);
  for (uint32_t i = 0; i < out.layers; ++i) {
    if (!full[i]) out.places[i].window = seen - 1;
    out.places[i].sees_all = full[i];
  }
}

}  // namespace

void read_places(const Fields& config, EncoderConfig& out) {
  const Settings& settings = out.family->settings;
  const bool causal = out.family->block.causal;
  if (settings.rotary.otherwise != 0) {
    const Rotary full = read_rotary(config, settings.rotary, "full_attention", out.head_width);
    if (out.head_width % 2 != 0) {
      config.problem(ExitCode::kUnsupported, settings.heads.key,
                     fmt::format("rotary positions want heads of an even width, not of {}", out.head_width));
    }
    LayerPlaces places;
    places.rotary = full;
    out.places.assign(out.layers, places);
  }
  if (causal) return read_causal_windows(config, out);
  if (settings.window.key == nullptr) return;
  const Rotary local = read_rotary(config, settings.local_rotary, "sliding_attention", out.head_width);
  const uint32_t window = config.count(settings.window.key, kMaxPositions, settings.window.otherwise) / 2;
  const uint32_t every = config.count(settings.full_every.key, kMaxPositions, settings.full_every.otherwise);
  if (window == 0) config.problem(ExitCode::kUnsupported, settings.window.key, "a window of no tokens");
  const std::vector<bool> full = listed_layers(config, out);
  for (uint32_t i = 0; i < out.layers; ++i) {
    if (!full.empty() ? full[i] : i % every == 0) continue;
    out.places[i].rotary = local;
    out.places[i].window = window;
    out.places[i].sees_all = false;
  }
}

}  // namespace bantam::convert
