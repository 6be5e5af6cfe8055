// SmolLM 3 (Hugging Face 2025): Llama's layers; every fourth has no positions.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// If "layer_types" lists windows and "use_sliding_window" is absent, transformers' attention implementations disagree.
void settle_listed(const Fields& config, EncoderConfig&) {
  constexpr const char* kKinds = "layer_types";
  const Json kinds = config.has(kKinds) ? config.raw(kKinds) : Json::array();
  bool windows = false;
  for (const Json& kind : kinds.is_array() ? kinds : Json::array()) windows = windows || kind == "sliding_attention";
  if (windows && !config.flag("use_sliding_window", false)) {
    config.problem(ExitCode::kUnsupported, kKinds, "windows without use_sliding_window are not supported");
  }
}

}  // namespace

Family smollm3() {
  Family family = llama_like("smollm3", "SmolLM3");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128256;
  settings.positions.otherwise = 32768;
  settings.hidden.otherwise = 2048;
  settings.layers.otherwise = 36;
  settings.heads.otherwise = 16;
  settings.kv_heads.otherwise = 4;
  settings.rotary.otherwise = 2000000;
  settings.turned_layers = "no_rope_layers";
  settings.unturned_every = {"no_rope_layer_interval", 4};
  settings.window = {"sliding_window", 4096};
  settings.windows = Settings::Windows::kUnturned;
  settings.untied = false;
  settings.settle = settle_listed;
  return family;
}

}  // namespace bantam::convert
