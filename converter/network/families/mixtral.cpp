// Llama's kind with layers of experts: Mixtral (arXiv 2401.04088), Qwen 3 (arXiv 2505.09388) and OLMoE (arXiv 2409.02060).
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

/// Modules of the feed-forward part of a layer, each expert's like those of a dense layer.
void add_experts(Family& family, const char* router, const char* up, const char* gate, const char* down,
                 const char* experts) {
  family.roles.insert({{Slot::kRouter, router},
                       {Slot::kExpertUp, up},
                       {Slot::kExpertGate, gate},
                       {Slot::kExpertDown, down},
                       {Slot::kExperts, experts}});
}

void add_experts(Family& family) {
  add_experts(family, "mlp.gate", "mlp.experts.{}.gate_proj", "mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj",
              "mlp.experts");
  family.settings.shares_of_one = {"norm_topk_prob", false};
}

Family without_dense_layers(Family family) {
  for (const Slot slot : {Slot::kUp, Slot::kGate, Slot::kDown}) family.roles.erase(slot);
  return family;
}

}  // namespace

Family mixtral() {
  Family family = without_dense_layers(llama_like("mixtral", "Mixtral"));
  add_experts(family, "block_sparse_moe.gate", "block_sparse_moe.experts.{}.w1", "block_sparse_moe.experts.{}.w3",
              "block_sparse_moe.experts.{}.w2", "block_sparse_moe.experts");
  Settings& settings = family.settings;
  settings.positions.otherwise = 4096 * 32;
  settings.kv_heads.otherwise = 8;
  settings.intermediate.otherwise = 14336;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 1e6;
  settings.window = {"sliding_window", 4096};
  settings.synonyms = {{"num_experts", "num_local_experts"}};
  settings.experts = {"num_local_experts", 8};
  settings.experts_of_token = {"num_experts_per_tok", 2};
  settings.shares_of_one = {nullptr, true};
  return family;
}

Family qwen3_moe() {
  Family family = llama_like("qwen3_moe", "Qwen3Moe");
  add_experts(family);
  family.block.head_norms = true;
  family.roles.insert({{Slot::kQueryNorm, "self_attn.q_norm"}, {Slot::kKeyNorm, "self_attn.k_norm"}});
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 151936;
  settings.hidden.otherwise = 2048;
  settings.layers.otherwise = 24;
  settings.intermediate.otherwise = 6144;
  settings.positions.otherwise = 32768;
  settings.kv_heads.otherwise = 4;
  settings.required.emplace_back("use_sliding_window", "false");
  settings.synonyms = {{"num_local_experts", "num_experts"}};
  settings.experts = {"num_experts", 128};
  settings.experts_of_token = {"num_experts_per_tok", 8};
  settings.expert_columns = {"moe_intermediate_size", 768};
  settings.layers_of_experts = Settings::ExpertLayers::kListed;
  return family;
}

Family olmoe() {
  Family family = without_dense_layers(llama_like("olmoe", "Olmoe"));
  add_experts(family);
  family.roles.insert({{Slot::kQueryNorm, "self_attn.q_norm"}, {Slot::kKeyNorm, "self_attn.k_norm"}});
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50304;
  settings.hidden.otherwise = 2048;
  settings.layers.otherwise = 16;
  settings.heads.otherwise = 16;
  settings.kv_heads.otherwise = 16;
  settings.intermediate.otherwise = 2048;
  settings.positions.otherwise = 4096;
  settings.head_width = nullptr;
  settings.epsilon_otherwise = 1e-5;
  settings.required.emplace_back("clip_qkv", "null");
  settings.synonyms = {{"num_local_experts", "num_experts"}};
  settings.experts = {"num_experts", 64};
  settings.experts_of_token = {"num_experts_per_tok", 8};
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
