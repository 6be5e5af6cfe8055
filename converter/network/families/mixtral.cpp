// Llama-like models with expert layers: Mixtral (arXiv 2401.04088), Qwen 3 (arXiv 2505.09388), Qwen 2 (arXiv
// 2407.10671), Mellum 2 (JetBrains), OLMoE (arXiv 2409.02060) and FlexOlmo (arXiv 2507.07024). Granite 3 (IBM 2024) and
// Aria (arXiv 2410.05993) store all experts in one tensor. In Qwen 2, Granite and Aria all tokens go through shared
// experts, too.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// Each expert's modules have the names of a dense layer's.
void add_experts(Family& family) {
  add_experts(family, "mlp.gate", "mlp.experts.{}.gate_proj", "mlp.experts.{}.up_proj", "mlp.experts.{}.down_proj",
              "mlp.experts");
  family.settings.shares_of_one = {"norm_topk_prob", false};
}

void add_fused_experts(Family& family, const char* router, const char* up_gate, const char* down, const char* experts) {
  add_experts(family, router, up_gate, up_gate, down, experts);
}

/// Refuses files with dense layers.
void settle_sparse(const Fields& config, EncoderConfig&) {
  constexpr const char* kKinds = "mlp_layer_types";
  const Json kinds = config.has(kKinds) ? config.raw(kKinds) : Json::array();
  for (const Json& kind : kinds.is_array() ? kinds : Json::array()) {
    if (kind != "sparse") return config.problem(ExitCode::kUnsupported, kKinds, "only \"sparse\" layers are supported");
  }
}

}  // namespace

Family cohere2();
void add_sinks(Family& family);

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

Family mellum() {
  Family family = qwen3_moe();
  family.model_types = {"mellum"};
  family.architectures = {"Mellum"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 98304;
  settings.hidden.otherwise = 2304;
  settings.layers.otherwise = 28;
  settings.intermediate.otherwise = 7168;
  settings.positions.otherwise = 131072;
  settings.head_width_otherwise = 128;
  settings.rotary.otherwise = 500000;
  settings.local_rotary = {10000, "rope_local_theta"};
  settings.window = {"sliding_window", 1024};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {nullptr, 1};
  settings.required = {{"pretraining_tp", "1"}};
  settings.synonyms = {{"num_experts", "num_local_experts"}};
  settings.experts = {"num_local_experts", 64};
  settings.expert_columns = {"moe_intermediate_size", 896};
  settings.shares_of_one.otherwise = true;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family qwen2_moe() {
  Family family = llama_like("qwen2_moe", "Qwen2Moe");
  add_experts(family);
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 151936;
  settings.hidden.otherwise = 2048;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 16;
  settings.kv_heads.otherwise = 16;
  settings.intermediate.otherwise = 5632;
  settings.shared_columns = {"shared_expert_intermediate_size", 5632};
  settings.layers_of_experts = Settings::ExpertLayers::kListed;
  settings.positions.otherwise = 32768;
  settings.required.emplace_back("use_sliding_window", "false");
  settings.synonyms = {{"num_local_experts", "num_experts"}};
  settings.experts = {"num_experts", 60};
  settings.experts_of_token = {"num_experts_per_tok", 4};
  settings.expert_columns = {"moe_intermediate_size", 1408};
  add_shared_experts(family, "mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj", "mlp.shared_expert.down_proj");
  family.roles[Slot::kSharedScale] = "mlp.shared_expert_gate";
  return family;
}

Family flex_olmo() {
  Family family = olmoe();
  family.model_types = {"flex_olmo"};
  family.architectures = {"FlexOlmo"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 100352;
  settings.hidden.otherwise = 4096;
  settings.layers.otherwise = 32;
  settings.heads.otherwise = 32;
  settings.kv_heads.otherwise = 0;
  settings.intermediate.otherwise = 11008;
  settings.epsilon_otherwise = 1e-6;
  settings.rotary.otherwise = 500000;
  settings.required = {{"pretraining_tp", "1"}};
  settings.experts.otherwise = 7;
  settings.experts_of_token.otherwise = 5;
  family.roles.erase(Slot::kAttentionNorm);
  family.roles.erase(Slot::kDownNorm);
  family.roles[Slot::kAttentionOutNorm] = "post_attention_layernorm";
  family.roles[Slot::kDownOutNorm] = "post_feedforward_layernorm";
  return family;
}

Family granitemoe() {
  Family family = without_dense_layers(llama_like("granitemoe", "GraniteMoe"));
  add_fused_experts(family, "block_sparse_moe.router.layer", "block_sparse_moe.input_linear",
                    "block_sparse_moe.output_linear", "block_sparse_moe.experts");
  Settings& settings = family.settings;
  settings.head_width = nullptr;
  settings.embedding_factor = "embedding_multiplier";
  settings.score_factor = "attention_multiplier";
  settings.added_factor = "residual_multiplier";
  settings.synonyms = {{"num_experts", "num_local_experts"}};
  settings.experts = {"num_local_experts", 8};
  settings.experts_of_token = {"num_experts_per_tok", 2};
  settings.shares_of_one = {nullptr, true};
  family.heads = decoder_heads("ForCausalLM");
  for (Head& head : family.heads) {
    if (head.task == fb::TaskKind::generate) head.layers.back().divisor = "logits_scaling";
  }
  return family;
}

Family granitemoeshared() {
  Family family = granitemoe();
  family.model_types = {"granitemoeshared"};
  family.architectures = {"GraniteMoeShared"};
  family.settings.shared_columns = {"shared_intermediate_size", 0};
  add_shared_experts(family, "shared_mlp.input_linear[0/2]", "shared_mlp.input_linear[1/2]",
                     "shared_mlp.output_linear");
  return family;
}

Family granitemoe_swa() {
  Family family = granitemoeshared();
  family.model_types = {"granitemoe_swa"};
  family.architectures = {"GraniteMoeSWA"};
  family.roles[Slot::kRouter] = "block_sparse_moe.router";
  family.roles[Slot::kExpertUp] = family.roles[Slot::kExpertGate] = "block_sparse_moe.experts.gate_up_proj";
  family.roles[Slot::kExpertDown] = "block_sparse_moe.experts.down_proj";
  add_sinks(family);
  return family;
}

Family aria_text() {
  Family family = without_dense_layers(llama_like("aria_text", "AriaText"));
  add_fused_experts(family, "mlp.router", "mlp.experts.fc1^", "mlp.experts.fc2^", "mlp.experts");
  Settings& settings = family.settings;
  // The expert operator supports silu only; "hidden_act" is the activation of the shared experts.
  settings.required.emplace_back("hidden_act", "\"silu\"");
  settings.expert_columns = {"intermediate_size", 4096};
  settings.shared_experts = {"moe_num_shared_experts", 2};
  settings.experts = {"moe_num_experts", 8};
  settings.experts_of_token = {"moe_topk", 2};
  settings.shares_of_one = {nullptr, true};
  add_shared_experts(family, "mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj",
                     "mlp.shared_experts.down_proj");
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family cohere2_moe() {
  Family family = without_dense_layers(cohere2());
  family.model_types = {"cohere2_moe"};
  family.architectures = {"Cohere2Moe"};
  add_experts(family);
  Settings& settings = family.settings;
  settings.synonyms = {{"num_local_experts", "num_experts"}};
  settings.required = {{"expert_selection_fn", "\"softmax\""},
                       {"num_shared_experts", "0"},
                       {"rms_norm_eps", "null"},
                       {"rope_scaling", "null"}};
  settings.settle = settle_sparse;
  settings.experts = {"num_experts", 8};
  settings.experts_of_token = {"num_experts_per_tok", 2};
  settings.shares_of_one = {nullptr, true};
  return family;
}

}  // namespace bantam::convert
