// Phi 1 and 2 (arXiv 2306.11644): parallel layers with one norm, and rotary positions in a part of each head, whose
// queries and keys may be normed. Phi 3 (arXiv 2404.14219): Llama's layers; queries, keys and values are in one matrix,
// gates and kUp in another.
#include "network/families/blocks.h"

namespace bantam::convert {

Family phi() {
  Family family = llama_like("phi", "Phi");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 51200;
  settings.hidden.otherwise = 2048;
  settings.layers.otherwise = 24;
  settings.intermediate.otherwise = 8192;
  settings.head_width = nullptr;
  settings.activation_otherwise = "gelu_new";
  settings.epsilon = "layer_norm_eps";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.part = 0.5;
  settings.parallel = {nullptr, true};
  settings.head_norms = {"qk_layernorm", false};
  family.block.rms_norms = false;
  family.block.head_norms = true;
  family.roles[Slot::kQueryNorm] = "self_attn.q_layernorm";
  family.roles[Slot::kKeyNorm] = "self_attn.k_layernorm";
  family.roles[Slot::kAttentionOut] = "self_attn.dense";
  family.roles[Slot::kUp] = "mlp.fc1";
  family.roles[Slot::kDown] = "mlp.fc2";
  family.roles[Slot::kFinalNorm] = "final_layernorm";
  family.roles.erase(Slot::kGate);
  family.roles.erase(Slot::kDownNorm);
  family.heads = joined(decoder_heads("ForCausalLM", true), {score_tag_head()});
  return family;
}

Family phi3() {
  Family family = llama_like("phi3", "Phi3");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32064;
  settings.hidden.otherwise = 3072;
  settings.positions.otherwise = 4096;
  settings.intermediate.otherwise = 8192;
  settings.epsilon_otherwise = 1e-5;
  settings.head_width = nullptr;
  settings.rotary.part_if_said = true;
  settings.window = {"sliding_window", 4096};
  family.block.together = true;
  for (const Slot slot : {Slot::kQuery, Slot::kKey, Slot::kValue}) family.roles.erase(slot);
  family.roles[Slot::kQueriesKeysValues] = "self_attn.qkv_proj";
  family.roles[Slot::kUp] = "mlp.gate_up_proj[0/2]";
  family.roles[Slot::kGate] = "mlp.gate_up_proj[1/2]";
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  return family;
}

}  // namespace bantam::convert
