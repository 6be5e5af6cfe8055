// GLM 4 (arXiv 2406.12793), as in transformers: Llama's layers; rotary positions rotate neighboring columns of a part
// of each head, and gates share one matrix with kUp. The version of 2025 ("glm4") also has norms after attention and
// feed-forward layers.
#include "network/families/blocks.h"

namespace bantam::convert {

Family glm() {
  Family family = llama_like("glm", "Glm");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 151552;
  settings.positions.otherwise = 131072;
  settings.layers.otherwise = 40;
  settings.kv_heads.otherwise = 2;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 13696;
  settings.epsilon_otherwise = 1.5625e-07;
  settings.rotary.part = 0.5;
  settings.rotary.odd_part = true;
  family.block.neighbours = true;
  family.roles[Slot::kUp] = "mlp.gate_up_proj[0/2]";
  family.roles[Slot::kGate] = "mlp.gate_up_proj[1/2]";
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  return family;
}

Family glm4() {
  Family family = glm();
  family.model_types = {"glm4"};
  family.architectures = {"Glm4"};
  family.roles[Slot::kAttentionOutNorm] = "post_self_attn_layernorm";
  family.roles[Slot::kDownOutNorm] = "post_mlp_layernorm";
  return family;
}

}  // namespace bantam::convert
