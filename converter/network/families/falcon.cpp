// Falcon (arXiv 2311.16867): parallel layers; all queries share one head of keys and values, or as many as the settings
// say. The larger models have two norms per layer.
#include "network/families/blocks.h"

namespace bantam::convert {

Family falcon() {
  Family family;
  family.model_types = {"falcon"};
  family.base = "transformer";
  family.architectures = {"Falcon"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 65024;
  settings.positions.otherwise = 2048;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 4544;
  settings.layers.otherwise = 32;
  settings.heads.otherwise = 71;
  settings.kv_heads.key = "num_kv_heads";
  settings.one_kv_head = {"multi_query", true};
  settings.own_kv_heads = {"new_decoder_architecture", false};
  settings.intermediate = {"ffn_hidden_size", 0};
  settings.widening = 4;
  settings.activation = "activation";
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary = {10000, "rope_theta"};
  settings.parallel = {"parallel_attn", true};
  settings.required = {{"alibi", "false"}};
  family.layer = "h.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.optional_biases = true;
  family.roles = falcon_roles();
  family.unused = {{"rotary_emb.inv_freq", "the settings say the angles"}};
  family.heads = joined(decoder_heads("ForCausalLM"), {tag_head(), answer_head()});
  return family;
}

Family falcon_two_norms() {
  Family family = falcon();
  family.model_types = {"falcon_two_norms"};
  family.published = {"falcon", nullptr, nullptr, ".ln_attn."};
  family.settings.one_kv_head.key = nullptr;
  family.block.parallel_norms = true;
  family.roles[Slot::kAttentionNorm] = "ln_attn";
  family.roles[Slot::kDownNorm] = "ln_mlp";
  return family;
}

}  // namespace bantam::convert
