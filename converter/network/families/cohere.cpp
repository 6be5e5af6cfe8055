// Command R and Aya (Cohere 2024): parallel layers with one norm without a bias, whose rotary positions turn neighbours.
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

}  // namespace bantam::convert
