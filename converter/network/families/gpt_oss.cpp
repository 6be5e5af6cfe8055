// gpt-oss (arXiv 2508.10925): expert layers with biases and bounded columns, heads with sinks, and every other layer
// with a window. OpenAI's privacy filter (2026): an encoder of such layers, which labels tokens.
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

/// The layers that both have.
Family with_bounded_experts(const char* model_type, const char* architecture) {
  Family family = without_dense_layers(llama_like(model_type, architecture));
  add_experts(family, "mlp.router", "mlp.experts.gate_up_proj^", "mlp.experts.gate_up_proj^", "mlp.experts.down_proj^",
              "mlp.experts");
  family.roles[Slot::kSinks] = "self_attn.sinks";
  Settings& settings = family.settings;
  settings.positions.otherwise = 131072;
  settings.head_width_otherwise = 64;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary = {150000, "rope_theta"};
  settings.rotary.parameters_otherwise =
      R"({"rope_type": "yarn", "factor": 32, "truncate": false, "original_max_position_embeddings": 4096})";
  settings.window = {"sliding_window", 128};
  settings.activation = nullptr;
  settings.activation_otherwise = "quick_gelu";
  settings.required = {{"swiglu_alpha", "1.702"}};  // of quick_gelu
  settings.synonyms = {{"num_experts", "num_local_experts"}};
  settings.experts = {"num_local_experts", 128};
  settings.experts_of_token = {"num_experts_per_tok", 4};
  settings.shares_of_one = {nullptr, true};
  settings.expert_limit = "swiglu_limit";
  settings.expert_limit_otherwise = 7;
  settings.gate_added = 1;
  return family;
}

}  // namespace

Family gpt_oss() {
  Family family = with_bounded_experts("gpt_oss", "GptOss");
  family.block.gates_between = true;
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 201088;
  settings.hidden.otherwise = settings.intermediate.otherwise = 2880;
  settings.layers.otherwise = 36;
  settings.heads.otherwise = 64;
  settings.kv_heads.otherwise = 8;
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {nullptr, 2};
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  return family;
}

Family openai_privacy_filter() {
  Family family = with_bounded_experts("openai_privacy_filter", "OpenAIPrivacyFilter");
  family.block.causal = false;
  family.block.neighbours = true;
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 200064;
  settings.hidden.otherwise = settings.intermediate.otherwise = 640;
  settings.layers.otherwise = 8;
  settings.heads.otherwise = 14;
  settings.kv_heads.otherwise = 2;
  settings.local_rotary = settings.rotary;
  settings.full_every = {nullptr, UINT32_MAX};
  settings.window_each_side = true;
  family.heads = joined(common_heads(), {score_tag_head()});
  return family;
}

}  // namespace bantam::convert
