// GPT-NeoX and Pythia (arXiv 2204.06745, 2304.01373): parallel layers with two norms, rotary positions in a part of
// each head, and queries, keys and values in one matrix, head by head. GPT-NeoX Japanese (ABEJA 2022): sequential
// layers with one bias. Persimmon (Adept 2023): with norms of each head.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// `intermediate` is a multiple of `hidden`.
void settle_multiple(const Fields& config, EncoderConfig& out) {
  constexpr uint32_t kMostTimes = 64;
  out.intermediate = out.hidden * config.count("intermediate_multiple_size", kMostTimes, 4);
}

}  // namespace

Family gpt_neox() {
  Family family;
  family.model_types = {"gpt_neox"};
  family.base = "gpt_neox";
  family.architectures = {"GPTNeoX"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50432;
  settings.positions.otherwise = 2048;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 6144;
  settings.layers.otherwise = 44;
  settings.heads.otherwise = 64;
  settings.intermediate.otherwise = 24576;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 10000;
  settings.rotary.key = "rotary_emb_base";
  settings.rotary.part = 0.25;
  settings.rotary.part_key = "rotary_pct";
  settings.rotary.odd_part = true;
  settings.parallel = {"use_parallel_residual", true};
  settings.untied = true;
  family.layer = "layers.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.parallel_norms = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embed_in.weight"},
                  {Slot::kAttentionNorm, "input_layernorm"},
                  {Slot::kQueriesKeysValues, "attention.query_key_value"},
                  {Slot::kQkv, "attention.qkv"},
                  {Slot::kHeads, "attention.heads"},
                  {Slot::kAttention, "attention"},
                  {Slot::kAttentionOut, "attention.dense"},
                  {Slot::kDownNorm, "post_attention_layernorm"},
                  {Slot::kUp, "mlp.dense_h_to_4h"},
                  {Slot::kDown, "mlp.dense_4h_to_h"},
                  {Slot::kFinalNorm, "final_layer_norm"}};
  family.unused = {{"attention.bias", "the causal mask"},
                   {"attention.masked_bias", "what the causal mask hides"},
                   {"rotary_emb.inv_freq", "the settings say the angles"}};
  family.renamed = {{"embed_out.", "lm_head."}};
  family.heads = joined(decoder_heads("ForCausalLM"), {tag_head(), answer_head()});
  return family;
}

Family gpt_neox_japanese() {
  Family family = gpt_neox();
  family.model_types = {"gpt_neox_japanese"};
  family.base = "gpt_neox_japanese";
  family.architectures = {"GPTNeoXJapanese"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32000;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 32;
  settings.heads.otherwise = 32;
  settings.intermediate = {nullptr, 0};
  settings.rotary = {10000, "rotary_emb_base", 1, "rotary_pct"};
  settings.rotary.odd_part = true;
  settings.parallel = {};
  settings.untied = false;
  settings.settle = settle_multiple;
  family.block.parallel_norms = false;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family persimmon() {
  Family family = gpt_neox();
  family.model_types = {"persimmon"};
  family.base = "model";
  family.architectures = {"Persimmon"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 262144;
  settings.positions.otherwise = 16384;
  settings.hidden.otherwise = 4096;
  settings.layers.otherwise = 36;
  settings.intermediate.otherwise = 16384;
  settings.activation_otherwise = "relu2";
  settings.rotary = {10000, "rope_theta", 0.5};
  settings.parallel = {};
  settings.required = {{"qk_layernorm", "true"}};
  family.block.parallel_norms = false;
  family.block.head_norms = true;
  const Roles names = {{Slot::kWords, "embed_tokens.weight"},
                       {Slot::kQueriesKeysValues, "self_attn.query_key_value"},
                       {Slot::kQkv, "self_attn.qkv"},
                       {Slot::kHeads, "self_attn.heads"},
                       {Slot::kAttention, "self_attn"},
                       {Slot::kAttentionOut, "self_attn.dense"},
                       {Slot::kQueryNorm, "self_attn.q_layernorm"},
                       {Slot::kKeyNorm, "self_attn.k_layernorm"},
                       {Slot::kFinalNorm, "final_layernorm"}};
  for (const auto& [slot, name] : names) family.roles[slot] = name;
  family.renamed = {};
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  return family;
}

}  // namespace bantam::convert
