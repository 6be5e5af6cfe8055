// SmolLM 3 (Hugging Face 2025): Llama's layers, of which every fourth knows of no places.
#include "network/families/blocks.h"

namespace bantam::convert {

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
  settings.windows = Settings::Windows::kFrom;
  settings.untied = false;
  return family;
}

}  // namespace bantam::convert
