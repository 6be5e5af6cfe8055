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

/// transformers' rule for Switch: where there are to be none, its second layer is one nevertheless.
void spread_out(const Fields& config, const Settings& settings, ExpertLayers& experts) {
  const auto layers = static_cast<uint32_t>(experts.layers.size());
  const char* key = settings.expert_layers.key;
  const bool none = config.has(key) && config.raw(key) == 0;
  const uint32_t step = none ? layers : layers / config.count(key, kMostExpertLayers, settings.expert_layers.otherwise);
  for (uint32_t i = 0; i < layers && step != 0; ++i) experts.layers[i] = step == 1 || i % step == 1;
}

/// A word a layer.
void take_kinds(const Fields& config, ExpertLayers& experts) {
  const Json& kinds = config.raw(kLayerKinds);
  bool known = kinds.is_array() && kinds.size() == experts.layers.size();
  for (size_t i = 0; known && i < kinds.size(); ++i) {
    known = kinds[i] == "sparse" || kinds[i] == "dense";
    experts.layers[i] = kinds[i] == "sparse";
  }
  if (!known) config.problem(ExitCode::kInvalid, kLayerKinds, "is no list of \"sparse\" and \"dense\", one a layer");
}

/// transformers' rule for Qwen 3.
void take_listed(const Fields& config, ExpertLayers& experts) {
  const uint32_t step = config.count(kSparseStep, kMostExpertLayers, 1);
  for (size_t i = 0; i < experts.layers.size(); ++i) experts.layers[i] = (i + 1) % step == 0;
  if (config.has(kLayerKinds)) take_kinds(config, experts);
  if (!config.has(kDenseLayers)) return;
  const Json& dense = config.raw(kDenseLayers);
  bool known = dense.is_array();
  for (size_t k = 0; known && k < dense.size(); ++k) {
    known = dense[k].is_number_unsigned() && dense[k].get<uint64_t>() < experts.layers.size();
    if (known) experts.layers[dense[k].get<size_t>()] = false;
  }
  if (!known) config.problem(ExitCode::kInvalid, kDenseLayers, "is no list of numbers of layers");
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
  experts.capacity = read(config, settings, settings.expert_capacity, kMostCapacity);
  experts.shares_of_one = read_flag(config, settings.shares_of_one);
  if (experts.top > experts.experts) {
    config.problem(ExitCode::kInvalid, settings.experts_of_token.key,
                   fmt::format("{} experts of a token are more than the {} of a layer", experts.top, experts.experts));
    experts.top = experts.experts;
  }
  experts.layers.assign(out.layers, true);
  if (settings.layers_of_experts == Settings::ExpertLayers::kSteps) {
    experts.layers.assign(out.layers, false);
    spread_out(config, settings, experts);
  }
  if (settings.layers_of_experts == Settings::ExpertLayers::kListed) take_listed(config, experts);
}

}  // namespace bantam::convert
