// Llama-like models with expert layers whose shares are sigmoids of scores, and in which a bias helps to choose the
// experts: GLM 4.5 (arXiv 2508.06471) and Sarvam, Solar Open (Upstage 2026), K-EXAONE (arXiv 2601.01739), Hunyuan 3
// (Tencent 2026), MiniMax M2 (2025), Kolibri (Aleph Alpha 2026), Trinity (Arcee 2025), Flint (Recursive 2026); and
// ERNIE 4.5 (Baidu 2025), whose shares are a softmax.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {

Family ernie4_5();

namespace {

void settle_shared(const Fields& config, EncoderConfig&) {
  constexpr const char* kCount = "num_shared_experts";
  if (config.has(kCount) && config.raw(kCount) == 0)
    config.problem(ExitCode::kUnsupported, kCount, "layers without shared experts are not supported");
}

Family with_routed(Family family) {
  add_experts(family, "mlp.gate", "mlp.experts.{}.gate_proj", "mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj",
              "mlp.experts");
  add_shared_experts(family, "mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj",
                     "mlp.shared_experts.down_proj");
  family.roles[Slot::kChoiceBias] = "mlp.gate.e_score_correction_bias";
  Settings& settings = family.settings;
  settings.experts = {"n_routed_experts", 128};
  settings.synonyms = {{"num_local_experts", "n_routed_experts"}};
  settings.experts_of_token = {"num_experts_per_tok", 8};
  settings.expert_columns = {"moe_intermediate_size", 1408};
  settings.shared_experts = {"n_shared_experts", 1};
  settings.shares = fb::ShareKind::sigmoid;
  settings.shares_of_one = {"norm_topk_prob", true};
  settings.expert_factor = "routed_scaling_factor";
  settings.layers_of_experts = Settings::ExpertLayers::kBehind;
  settings.expert_layers = {"first_k_dense_replace", 1};
  settings.required.insert(settings.required.end(), {{"n_group", "1"}, {"topk_group", "1"}});
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

void add_head_norms(Family& family) {
  family.block.head_norms = true;
  family.roles[Slot::kQueryNorm] = "self_attn.q_norm";
  family.roles[Slot::kKeyNorm] = "self_attn.k_norm";
}

/// Only layers with windows have rotary positions.
void add_turned_windows(Settings& settings, const char* every, uint32_t otherwise, uint32_t window) {
  settings.window = {"sliding_window", window};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {every, otherwise};
  settings.turned_in_windows = true;
}

}  // namespace

Family glm4_moe() {
  Family family = with_routed(llama_like("glm4_moe", "Glm4Moe"));
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 151552;
  settings.positions.otherwise = 131072;
  settings.layers.otherwise = 46;
  settings.heads.otherwise = 96;
  settings.kv_heads.otherwise = 8;
  settings.intermediate.otherwise = 10944;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.part = 0.5;
  settings.rotary.odd_part = true;
  settings.required.emplace_back("use_qk_norm", "false");
  return family;
}

Family glm4_moe_normed() {
  Family family = glm4_moe();
  family.model_types = {"glm4_moe_normed"};
  family.published = {"glm4_moe", nullptr, nullptr, "self_attn.q_norm"};
  family.settings.required.back() = {"use_qk_norm", "true"};
  add_head_norms(family);
  return family;
}

Family solar_open() {
  Family family = without_dense_layers(glm4_moe());
  family.model_types = {"solar_open"};
  family.architectures = {"SolarOpen"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 196608;
  settings.layers.otherwise = 48;
  settings.heads.otherwise = 64;
  settings.head_width_otherwise = 128;
  settings.rotary = {1000000, "rope_theta"};
  settings.expert_columns.otherwise = 1280;
  settings.layers_of_experts = Settings::ExpertLayers::kAll;
  settings.required.pop_back();
  return family;
}

Family exaone_moe() {
  Family family = with_routed(llama_like("exaone_moe", "ExaoneMoe"));
  family.roles[Slot::kChoiceBias] = "mlp.e_score_correction_bias";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 102400;
  settings.kv_heads.otherwise = 32;
  settings.intermediate.otherwise = 16384;
  settings.epsilon_otherwise = 1e-5;
  settings.experts = {"num_experts", 64};
  settings.synonyms = {};
  settings.expert_columns.otherwise = 1024;
  settings.shared_experts = {"num_shared_experts", 1};
  settings.expert_factor_otherwise = 2.5;
  add_turned_windows(settings, "sliding_window_pattern", 4, 4096);
  add_head_norms(family);
  family.unused.emplace_back("mtp.", "of the prediction of several words");
  return family;
}

Family hy_v3() {
  Family family = with_routed(llama_like("hy_v3", "HYV3"));
  family.roles[Slot::kRouter] = "mlp.router.gate";
  family.roles[Slot::kChoiceBias] = "mlp.expert_bias";
  family.roles[Slot::kSharedUp] = "mlp.shared_mlp.gate_proj";
  family.roles[Slot::kSharedGate] = "mlp.shared_mlp.up_proj";
  family.roles[Slot::kSharedDown] = "mlp.shared_mlp.down_proj";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 120832;
  settings.positions.otherwise = 131072;
  settings.layers.otherwise = 80;
  settings.heads.otherwise = 64;
  settings.kv_heads.otherwise = 8;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 13312;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 11158840;
  settings.experts = {"num_experts", 192};
  settings.synonyms = {{"num_local_experts", "num_experts"}};
  settings.expert_columns.otherwise = 1536;
  settings.shared_experts = {"num_shared_experts", 1};
  settings.settle = settle_shared;
  settings.shares_of_one = {nullptr, true};
  settings.expert_factor = "router_scaling_factor";
  settings.expert_factor_otherwise = 2.826;
  settings.expert_layers = {nullptr, 1};
  add_head_norms(family);
  return family;
}

Family minimax_m2() {
  Family family = without_dense_layers(llama_like("minimax_m2", "MiniMaxM2"));
  family.settings.rotary.part_if_said = true;
  add_experts(family, "block_sparse_moe.gate", "block_sparse_moe.experts.{}.w1", "block_sparse_moe.experts.{}.w3",
              "block_sparse_moe.experts.{}.w2", "block_sparse_moe.experts");
  family.roles[Slot::kChoiceBias] = "block_sparse_moe.e_score_correction_bias";
  family.roles[Slot::kQueryNorm] = "self_attn.q_norm";
  family.roles[Slot::kKeyNorm] = "self_attn.k_norm";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 200064;
  settings.positions.otherwise = 196608;
  settings.hidden.otherwise = 3072;
  settings.layers.otherwise = 62;
  settings.heads.otherwise = 48;
  settings.kv_heads.otherwise = 8;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 1536;
  settings.rotary.otherwise = 5000000;
  settings.rotary.width_key = "rotary_dim";
  settings.synonyms = {{"num_experts", "num_local_experts"}};
  settings.experts = {"num_local_experts", 256};
  settings.experts_of_token = {"num_experts_per_tok", 8};
  settings.shares = fb::ShareKind::sigmoid;
  settings.shares_of_one = {nullptr, true};
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family kolibri1() {
  Family family = without_dense_layers(with_routed(llama_like("kolibri1", "Kolibri1")));
  family.roles[Slot::kChoiceBias] = "moe.router.expert_bias";
  family.roles[Slot::kAttentionOutNorm] = "post_attn_norm";
  family.roles[Slot::kDownOutNorm] = "post_ffn_norm";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128000;
  settings.positions.otherwise = 262144;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 50;
  settings.heads.otherwise = 48;
  settings.kv_heads.otherwise = 4;
  settings.head_width_otherwise = 128;
  settings.synonyms = {{"num_experts", "num_local_experts"}};
  settings.experts = {"num_local_experts", 384};
  settings.experts_of_token.otherwise = 6;
  settings.expert_columns.otherwise = 512;
  settings.shared_columns = {"shared_expert_intermediate_size", 512};
  settings.choice_by_scores = true;
  settings.shares_of_one.otherwise = false;
  settings.layers_of_experts = Settings::ExpertLayers::kAll;
  add_turned_windows(settings, nullptr, 5, 513);
  add_head_norms(family);
  return family;
}

Family afmoe() {
  Family family = with_routed(llama_like("afmoe", "Afmoe"));
  family.roles[Slot::kRouter] = "mlp.router.gate";
  family.roles[Slot::kChoiceBias] = "mlp.expert_bias";
  family.roles[Slot::kAttentionGate] = "self_attn.gate_proj";
  family.roles[Slot::kAttentionOutNorm] = "post_attention_layernorm";
  family.roles[Slot::kDownNorm] = "pre_mlp_layernorm";
  family.roles[Slot::kDownOutNorm] = "post_mlp_layernorm";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 200192;
  settings.positions.otherwise = 16384;
  settings.hidden.otherwise = 2048;
  settings.heads.otherwise = 16;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 6144;
  settings.epsilon_otherwise = 1e-5;
  settings.scaled_if = {"mup_enabled", false};
  settings.experts = {"num_experts", 64};
  settings.synonyms = {};
  settings.experts_of_token.otherwise = 6;
  settings.shared_experts = {"num_shared_experts", 2};
  settings.shares_of_one = {nullptr, true};
  settings.expert_factor = "route_scale";
  settings.expert_layers = {"num_dense_layers", 1};
  add_turned_windows(settings, "global_attn_every_n_layers", 4, 1024);
  add_head_norms(family);
  return family;
}

Family flint() {
  Family family = with_routed(llama_like("flint", "Flint"));
  family.roles.erase(Slot::kChoiceBias);
  family.roles[Slot::kSinks] = "self_attn.softmax_offset";
  family.roles[Slot::kSharedUp] = "mlp.shared_expert.gate_proj";
  family.roles[Slot::kSharedGate] = "mlp.shared_expert.up_proj";
  family.roles[Slot::kSharedDown] = "mlp.shared_expert.down_proj";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 150144;
  settings.positions.otherwise = 262144;
  settings.layers.otherwise = 49;
  settings.kv_heads.otherwise = 4;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 6144;
  settings.experts = {"num_experts", 256};
  settings.synonyms = {{"num_local_experts", "num_experts"}};
  settings.experts_of_token.otherwise = 6;
  settings.expert_columns.otherwise = 512;
  settings.shared_columns = {"shared_expert_intermediate_size", 1024};
  settings.expert_factor = nullptr;
  settings.layers_of_experts = Settings::ExpertLayers::kListed;
  add_turned_windows(settings, nullptr, 4, 513);
  add_head_norms(family);
  return family;
}

Family ernie4_5_moe() {
  Family family = with_routed(ernie4_5());
  family.model_types = {"ernie4_5_moe"};
  family.architectures = {"Ernie4_5_Moe"};
  family.roles[Slot::kChoiceBias] = "mlp.moe_statics.e_score_correction_bias";
  Settings& settings = family.settings;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 28;
  settings.heads.otherwise = 20;
  settings.head_width = nullptr;
  settings.head_width_otherwise = 0;
  settings.kv_heads.otherwise = 4;
  settings.intermediate.otherwise = 12288;
  settings.synonyms = {{"num_experts", "moe_num_experts"}, {"num_experts_per_tok", "moe_k"}};
  settings.experts = {"moe_num_experts", 64};
  settings.experts_of_token = {"moe_k", 6};
  settings.expert_columns.otherwise = 1536;
  settings.shared_experts = {"moe_num_shared_experts", 2};
  settings.shares = fb::ShareKind::softmax;
  settings.shares_of_one = {nullptr, true};
  settings.expert_factor = nullptr;
  settings.layers_of_experts = Settings::ExpertLayers::kBetween;
  settings.required.emplace_back("use_bias", "false");
  family.unused.emplace_back("mtp", "of the prediction of several words");
  return family;
}

}  // namespace bantam::convert
