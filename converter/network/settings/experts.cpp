#include "network/settings/experts.h"

#include <fmt/format.h>

namespace bantam::convert {
namespace {

constexpr uint32_t kMostExperts = 1U << 12, kMostExpertsOfToken = 64, kMostExpertColumns = 1U << 16,
                   kMostCapacity = 1U << 24, kMostExpertLayers = 1U << 10;
constexpr const char* kSparseStep = "decoder_sparse_step";
constexpr const char* kDenseLayers = "mlp_only_layers";
constexpr const char* kLayerKinds = "mlp_layer_types";

uint32_t read(const Fields& config, const Settings& settings, const Count& setting, uint32_t most) {
  const char* key = key_in(config, settings, setting.key);
  return key == nullptr ? setting.otherwise : config.count(key, most, setting.otherwise);
}

/// Switch: every `step`-th layer has experts, as in transformers; with 0 expert layers layer 1 still becomes one.
void spread_out(const Fields& config, const Settings& settings, ExpertLayers& experts) {
  const auto layers = static_cast<uint32_t>(experts.layers.size());
  const char* key = settings.expert_layers.key;
  const bool none = config.has(key) && config.raw(key) == 0;
  const uint32_t step = none ? layers : layers / config.count(key, kMostExpertLayers, settings.expert_layers.otherwise);
  for (uint32_t i = 0; i < layers && step != 0; ++i) experts.layers[i] = step == 1 || i % step == 1;
}

/// Reads one word per layer.
void take_kinds(const Fields& config, ExpertLayers& experts) {
  const Json& kinds = config.raw(kLayerKinds);
  bool known = kinds.is_array() && kinds.size() == experts.layers.size();
  for (size_t i = 0; known && i < kinds.size(); ++i) {
    known = kinds[i] == "sparse" || kinds[i] == "dense";
    experts.layers[i] = kinds[i] == "sparse";
  }
  if (!known)
    config.problem(ExitCode::kInvalid, kLayerKinds, "is not a list of \"sparse\" and \"dense\", one for each layer");
}

/// The layers whose numbers `key` lists get experts, or lose them; as in transformers, numbers of no layer have no
/// effect. Returns false if there is no such list.
bool take_numbers(const Fields& config, const char* key, bool get, ExpertLayers& experts) {
  if (!config.has(key)) return false;
  const Json& numbers = config.raw(key);
  bool known = numbers.is_array();
  for (size_t k = 0; known && k < numbers.size(); ++k) {
    known = numbers[k].is_number_unsigned();
    if (known && numbers[k].get<uint64_t>() < experts.layers.size()) experts.layers[numbers[k].get<size_t>()] = get;
  }
  if (!known) config.problem(ExitCode::kInvalid, key, "is not a list of numbers of layers");
  return true;
}

/// Qwen 3, as in transformers.
void take_listed(const Fields& config, ExpertLayers& experts) {
  const uint32_t step = config.count(kSparseStep, kMostExpertLayers, 1);
  for (size_t i = 0; i < experts.layers.size(); ++i) experts.layers[i] = (i + 1) % step == 0;
  if (config.has(kLayerKinds)) take_kinds(config, experts);
  take_numbers(config, kDenseLayers, false, experts);
}

/// Llama 4.
void take_numbered(const Fields& config, ExpertLayers& experts) {
  const uint32_t step = config.count("interleave_moe_layer_step", kMostExpertLayers, 1);
  experts.layers.assign(experts.layers.size(), false);
  if (take_numbers(config, "moe_layers", true, experts)) return;
  for (size_t i = 0; i < experts.layers.size(); ++i) experts.layers[i] = (i + 1) % step == 0;
}

/// Reads "mlp_layer_types"; without it all layers after the first `expert_layers` have experts.
void take_behind(const Fields& config, const Settings& settings, ExpertLayers& experts) {
  if (config.has(kLayerKinds)) return take_kinds(config, experts);
  const char* key = settings.expert_layers.key;
  const bool none = key != nullptr && config.has(key) && config.raw(key) == 0;
  const uint32_t dense = none             ? 0
                         : key == nullptr ? settings.expert_layers.otherwise
                                          : config.count(key, kMostExpertLayers, settings.expert_layers.otherwise);
  for (size_t i = 0; i < experts.layers.size(); ++i) experts.layers[i] = i >= dense;
}

/// ERNIE 4.5, as in transformers; a negative "moe_layer_end_index" means the last layer.
void take_between(const Fields& config, ExpertLayers& experts) {
  const double first = config.number("moe_layer_start_index", 1), last = config.number("moe_layer_end_index", -1);
  const uint32_t step = config.count("moe_layer_interval", kMostExpertLayers, 1);
  for (size_t i = 0; i < experts.layers.size(); ++i) {
    const auto number = static_cast<double>(i);
    experts.layers[i] = (i + 1) % step == 0 && number >= first && (last < 0 || number <= last);
  }
}

/// NLLB, as in transformers.
void take_last(const Fields& config, const Count& every, ExpertLayers& experts) {
  const bool none = config.has(every.key) && config.raw(every.key) == 0;
  const uint32_t step = none ? 0 : config.count(every.key, kMostExpertLayers, every.otherwise);
  for (size_t i = 0; i < experts.layers.size(); ++i) experts.layers[i] = step != 0 && (i + 1) % step == 0;
}

/// Columns of the experts that all tokens go through.
uint32_t read_shared(const Fields& config, const Settings& settings, const ExpertLayers& experts) {
  const auto none = [&](const char* key) { return key != nullptr && config.has(key) && config.raw(key) == 0; };
  const char* columns = settings.shared_columns.key;
  if (columns != nullptr) {
    return none(columns) || (!config.has(columns) && settings.shared_columns.otherwise == 0)
               ? 0
               : config.count(columns, kMostExpertColumns, settings.shared_columns.otherwise);
  }
  constexpr uint32_t kMostShared = 64;
  const char* key = settings.shared_experts.key;
  if (none(key)) return 0;
  return experts.columns * (key == nullptr ? settings.shared_experts.otherwise
                                           : config.count(key, kMostShared, settings.shared_experts.otherwise));
}

/// Reads a number above 0, or 0 if `may_be_0`.
float read_number(const Fields& config, const char* key, double otherwise, bool may_be_0) {
  if (key == nullptr || !config.has(key)) return static_cast<float>(otherwise);
  const double value = config.number(key, otherwise);
  if ((value > 0 && value <= 1e6) || (may_be_0 && value == 0)) return static_cast<float>(value);
  config.problem(ExitCode::kInvalid, key, fmt::format("{} is not a number above 0, at most 1e6", value));
  return static_cast<float>(otherwise);
}

/// Reads which part of the experts' output is kept; as in transformers, shares below 0 drop nothing.
float read_kept(const Fields& config, const Settings& settings) {
  const char* key = settings.experts_dropped;
  if (key == nullptr) return 1;
  const double dropped = config.number(key, settings.experts_dropped_otherwise);
  if (!(dropped < 1)) config.problem(ExitCode::kInvalid, key, fmt::format("{} is not below 1", dropped));
  return dropped > 0 ? static_cast<float>(1 - dropped) : 1;
}

}  // namespace

void read_experts(const Fields& config, EncoderConfig& out) {
  if (!out.family->has(Slot::kRouter)) return;
  const Settings& settings = out.family->settings;
  ExpertLayers& experts = out.experts;
  experts.experts = read(config, settings, settings.experts, kMostExperts);
  experts.top = read(config, settings, settings.experts_of_token, kMostExpertsOfToken);
  experts.columns = settings.expert_columns.key == nullptr
                        ? out.intermediate
                        : read(config, settings, settings.expert_columns, kMostExpertColumns);
  if (out.family->has(Slot::kSharedUp)) experts.shared = read_shared(config, settings, experts);
  experts.factor = read_number(config, settings.expert_factor, settings.expert_factor_otherwise, false) *
                   read_kept(config, settings);
  experts.threshold = 2 * read_number(config, settings.half_threshold, settings.half_threshold_otherwise, true);
  experts.limit = read_number(config, settings.expert_limit, settings.expert_limit_otherwise, false);
  experts.capacity = read(config, settings, settings.expert_capacity, kMostCapacity);
  experts.shares_of_one = read_flag(config, settings.shares_of_one);
  if (experts.top > experts.experts) {
    const char* key = settings.experts_of_token.key;
    config.problem(ExitCode::kInvalid, key != nullptr ? key : settings.experts.key,
                   fmt::format("{} experts of a token are more than the {} of a layer", experts.top, experts.experts));
    experts.top = experts.experts;
  }
  experts.layers.assign(out.layers, true);
  if (settings.layers_of_experts == Settings::ExpertLayers::kSteps) {
    experts.layers.assign(out.layers, false);
    spread_out(config, settings, experts);
  }
  if (settings.layers_of_experts == Settings::ExpertLayers::kListed) take_listed(config, experts);
  if (settings.layers_of_experts == Settings::ExpertLayers::kNumbered) take_numbered(config, experts);
  if (settings.layers_of_experts == Settings::ExpertLayers::kBehind) take_behind(config, settings, experts);
  if (settings.layers_of_experts == Settings::ExpertLayers::kBetween) take_between(config, experts);
  if (settings.layers_of_experts == Settings::ExpertLayers::kLast) take_last(config, settings.expert_layers, experts);
}

}  // namespace bantam::convert
