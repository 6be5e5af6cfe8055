// Command R and Aya (Cohere 2024): parallel layers with one norm without a bias; rotary positions rotate neighboring
// columns. Command R7B and A (2024): three layers of four have windows, and the others have no positions.
#include "network/families/blocks.h"

namespace bantam::convert {

Family cohere() {
  Family family = llama_like("cohere", "Cohere");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 256000;
  settings.positions.otherwise = 8192;
  settings.hidden.otherwise = 8192;
  settings.layers.otherwise = 40;
  settings.heads.otherwise = 64;
  settings.intermediate.otherwise = 22528;
  settings.head_width = nullptr;
  settings.epsilon = "layer_norm_eps";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 500000;
  settings.parallel = {nullptr, true};
  settings.untied = false;
  settings.required = {{"use_qk_norm", "false"}};
  family.block.rms_norms = false;
  family.block.neighbours = true;
  family.roles.erase(Slot::kDownNorm);
  family.heads = decoder_heads("ForCausalLM");
  for (Head& head : family.heads) {
    if (head.task != fb::TaskKind::generate) continue;
    head.layers.back().factor = "logit_scale";
    head.layers.back().factor_otherwise = 0.0625;
  }
  return family;
}

Family cohere2() {
  Family family = cohere();
  family.model_types = {"cohere2"};
  family.architectures = {"Cohere2"};
  Settings& settings = family.settings;
  settings.head_width = "head_dim";
  settings.rotary.otherwise = 10000;
  settings.required = {};
  settings.window = {"sliding_window", 4096};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {"sliding_window_pattern", 4};
  settings.turned_in_windows = true;
  return family;
}

}  // namespace bantam::convert
