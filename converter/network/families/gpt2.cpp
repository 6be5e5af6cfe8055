// GPT-2 (Radford et al. 2019): a decoder with norms first, learned positions, and matrices stored as [inputs, outputs].
// GPT-3 (arXiv 2005.14165, section 2.1): the same; settings may ask for alternating dense and locally banded attention
// (arXiv 1904.10509). SantaCoder and StarCoder (arXiv 2301.03988, 2305.06161): the same, with one head of keys and
// values.
#include "network/families/blocks.h"

namespace bantam::convert {

Family gpt2() {
  Family family;
  family.model_types = {"gpt2"};
  family.base = "transformer";
  family.architectures = {"GPT2"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50257;
  settings.positions = {"n_positions", 1024};
  settings.segments = {nullptr, 0};
  settings.hidden = {"n_embd", 768};
  settings.layers = {"n_layer", 12};
  settings.heads = {"n_head", 12};
  settings.intermediate = {"n_inner", 0};
  settings.widening = 4;
  settings.activation = "activation_function";
  settings.activation_otherwise = "gelu_new";
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.window = {"window_size", 256};
  settings.windows = Settings::Windows::kKinds;
  settings.required = {{"scale_attn_weights", "true"}, {"scale_attn_by_inverse_layer_idx", "false"}};
  family.layer = "h.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.roles = {
      {Slot::kWords, "wte.weight"},          {Slot::kPositions, "wpe.weight"},  {Slot::kAttentionNorm, "ln_1"},
      {Slot::kQuery, "attn.c_attn^[0/3]"},   {Slot::kKey, "attn.c_attn^[1/3]"}, {Slot::kValue, "attn.c_attn^[2/3]"},
      {Slot::kQkv, "attn.c_attn"},           {Slot::kHeads, "attn.heads"},      {Slot::kAttention, "attn"},
      {Slot::kAttentionOut, "attn.c_proj^"}, {Slot::kDownNorm, "ln_2"},         {Slot::kUp, "mlp.c_fc^"},
      {Slot::kDown, "mlp.c_proj^"},          {Slot::kFinalNorm, "ln_f"}};
  family.unused = {{"attn.bias", "the causal mask"}, {"attn.masked_bias", "what the causal mask hides"}};
  family.heads = joined(decoder_heads("LMHeadModel"), {tag_head(), answer_head()});
  family.refused = {{"DoubleHeadsModel", "has two heads at once; --task generate converts the first"}};
  return family;
}

Family gpt_bigcode() {
  Family family = gpt2();
  family.model_types = {"gpt_bigcode"};
  family.architectures = {"GPTBigCode"};
  Settings& settings = family.settings;
  settings.kv_heads.key = "num_key_value_heads";
  settings.one_kv_head = {"multi_query", true};
  settings.activation_otherwise = "gelu_pytorch_tanh";
  settings.window = {};
  settings.windows = Settings::Windows::kAll;
  settings.required = {{"scale_attn_weights", "true"}};
  for (const Slot slot : {Slot::kQuery, Slot::kKey, Slot::kValue}) family.roles.erase(slot);
  family.roles[Slot::kQueriesKeysValues] = "attn.c_attn";
  family.roles[Slot::kQkv] = "attn.qkv";
  family.roles[Slot::kAttentionOut] = "attn.c_proj";
  family.roles[Slot::kUp] = "mlp.c_fc";
  family.roles[Slot::kDown] = "mlp.c_proj";
  family.heads = joined(decoder_heads("ForCausalLM"), {tag_head(), answer_head()});
  family.refused = {};
  return family;
}

}  // namespace bantam::convert
