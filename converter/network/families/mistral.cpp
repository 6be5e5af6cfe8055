// Mistral (arXiv 2310.06825): Llama's layers, all of which may have a window. Ministral (Mistral AI 2024): layers may
// differ in that. Ministral 3 (Mistral AI 2025): queries are scaled up beyond the positions of the first training.
#include <algorithm>

#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {

namespace {

constexpr const char* kMinistral3Rotary =
    R"({"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": 16384, "beta_fast": 32, "beta_slow": 1,
        "mscale": 1, "mscale_all_dim": 1, "llama_4_scaling_beta": 0.1})";

/// A file does not store the scaling of queries, so it accepts only texts that end before the first scaled position.
void limit_positions(const Fields& config, EncoderConfig& out) {
  const auto limit = [&](const Fields& rotary) {
    if (rotary.number("llama_4_scaling_beta", 0) == 0) return;
    out.positions =
        std::min(out.positions, rotary.count("original_max_position_embeddings", kMaxPositions, out.positions));
  };
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (config.has(key) && config.raw(key).is_object()) return limit(config.inside(key));
  }
  const Json otherwise = Json::parse(kMinistral3Rotary);
  limit(config.of(otherwise, "rope_parameters"));
}

}  // namespace

Family mistral() {
  Family family = llama_like("mistral", "Mistral");
  family.settings.intermediate.otherwise = 14336;
  family.settings.positions.otherwise = 4096 * 32;
  family.settings.kv_heads.otherwise = 8;
  family.settings.window = {"sliding_window", 4096};
  return family;
}

Family ministral() {
  Family family = mistral();
  family.model_types = {"ministral"};
  family.architectures = {"Ministral"};
  return family;
}

Family ministral3() {
  Family family = mistral();
  family.model_types = {"ministral3"};
  family.architectures = {"Ministral3"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 131072;
  settings.positions.otherwise = 262144;
  settings.layers.otherwise = 34;
  settings.head_width_otherwise = 128;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 1e6;
  settings.rotary.parameters_otherwise = kMinistral3Rotary;
  settings.settle = limit_positions;
  return family;
}

}  // namespace bantam::convert
