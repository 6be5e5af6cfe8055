// Hunyuan (Tencent 2025): Llama's layers, whose norms of queries and keys follow their rotary positions; also with
// expert layers, in which all tokens go through one expert. Phi 3.5 MoE (arXiv 2404.14219): Mixtral's layers, whose
// router masks scores far below the largest.
#include "network/families/blocks.h"

namespace bantam::convert {

Family mixtral();

Family hunyuan_v1_dense() {
  Family family = llama_like("hunyuan_v1_dense", "HunYuanDenseV1");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 290943;
  settings.epsilon_otherwise = 1e-5;
  family.block.head_norms = family.block.norms_behind = true;
  family.roles[Slot::kQueryNorm] = "self_attn.query_layernorm";
  family.roles[Slot::kKeyNorm] = "self_attn.key_layernorm";
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family hunyuan_v1_moe() {
  Family family = without_dense_layers(hunyuan_v1_dense());
  family.model_types = {"hunyuan_v1_moe"};
  family.architectures = {"HunYuanMoEV1"};
  add_experts(family, "mlp.gate.wg", "mlp.experts.{}.gate_proj", "mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj",
              "mlp.experts");
  add_shared_experts(family, "mlp.shared_mlp.gate_proj", "mlp.shared_mlp.up_proj", "mlp.shared_mlp.down_proj");
  Settings& settings = family.settings;
  settings.experts = {"num_experts", 1};
  settings.experts_of_token = {"moe_topk", 1};
  settings.shares_of_one = {nullptr, true};
  return family;
}

Family phimoe() {
  Family family = mixtral();
  family.model_types = {"phimoe"};
  family.architectures = {"Phimoe"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32064;
  settings.intermediate.otherwise = 6400;
  settings.experts.otherwise = 16;
  settings.shares = fb::ShareKind::masked;
  settings.required.emplace_back("num_experts_per_tok", "2");  // transformers' two steps give shares of two
  settings.shares_of_one = {};
  settings.half_threshold = "router_jitter_noise";
  settings.half_threshold_otherwise = 0.01;
  family.block.rms_norms = false;
  family.heads = decoder_heads("ForCausalLM", true);
  return family;
}

}  // namespace bantam::convert
