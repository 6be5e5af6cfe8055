#include "network/settings/entities.h"

#include <fmt/format.h>

#include <algorithm>

namespace bantam::convert {
namespace {

constexpr uint32_t kMostEntities = 1U << 24, kMostEntityColumns = 1U << 16;

}  // namespace

void read_entities(const Fields& config, EncoderConfig& out) {
  using Entities = EncoderConfig::Entities;
  if (!out.family->has(Slot::kEntities)) return;
  const Settings& settings = out.family->settings;
  out.entities = config.count(settings.entities.key, kMostEntities);
  out.entity_width = config.count(settings.entity_width.key, kMostEntityColumns, settings.entity_width.otherwise);
  out.entity_heads = config.count(settings.entity_heads.key, kMostEntityColumns, settings.entity_heads.otherwise);
  if (out.entity_width % out.entity_heads != 0) {
    config.problem(ExitCode::kInvalid, settings.entity_heads.key,
                   fmt::format("{} heads do not divide vectors of {} numbers", out.entity_heads, out.entity_width));
  }
  out.entity_layers.assign(out.layers, Entities::kNone);
  const Json types = config.has(kLayerTypes) ? config.raw(kLayerTypes) : Json::array();
  if (!types.is_array() || types.size() > out.layers) {
    config.problem(ExitCode::kInvalid, kLayerTypes,
                   fmt::format("is not a list of at most {} names, one for each layer", out.layers));
    return;
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "mix") out.entity_layers[i] = Entities::kAdded;
    if (types[i] == "norm") out.entity_layers[i] = Entities::kAttend;
    if (types[i] == "mix" || types[i] == "norm" || types[i] == "sim") continue;
    config.problem(ExitCode::kInvalid, kLayerTypes,
                   fmt::format("the name of layer {} is none of \"sim\", \"mix\" and \"norm\"", i));
    return;
  }
  const bool none = std::all_of(out.entity_layers.begin(), out.entity_layers.end(),
                                [](Entities kind) { return kind == Entities::kNone; });
  if (none) config.problem(ExitCode::kInvalid, kLayerTypes, "names no layer with entities (\"mix\" or \"norm\")");
}

}  // namespace bantam::convert
