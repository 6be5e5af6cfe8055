// GPT-J (Wang and Komatsuzaki 2021): parallel layers with one norm; rotary positions rotate neighboring columns of a
// part of each head. CodeGen (arXiv 2203.13474): the same, with queries, values and keys in one matrix, stored in four
// groups of columns.
#include "network/families/blocks.h"

namespace bantam::convert {

Family gptj() {
  Family family;
  family.model_types = {"gptj"};
  family.base = "transformer";
  family.architectures = {"GPTJ"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50400;
  settings.positions = {"n_positions", 2048};
  settings.segments = {nullptr, 0};
  settings.hidden = {"n_embd", 4096};
  settings.layers = {"n_layer", 28};
  settings.heads = {"n_head", 16};
  settings.intermediate = {"n_inner", 0};
  settings.widening = 4;
  settings.activation = "activation_function";
  settings.activation_otherwise = "gelu_new";
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 10000;
  settings.rotary.width_key = "rotary_dim";
  settings.rotary.width_otherwise = 64;
  settings.parallel = {nullptr, true};
  settings.untied = true;
  family.layer = "h.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.optional_biases = true;
  family.block.neighbours = true;
  family.roles = {{Slot::kWords, "wte.weight"}, {Slot::kAttentionNorm, "ln_1"}, {Slot::kQuery, "attn.q_proj"},
                  {Slot::kKey, "attn.k_proj"},  {Slot::kValue, "attn.v_proj"},  {Slot::kQkv, "attn.qkv"},
                  {Slot::kHeads, "attn.heads"}, {Slot::kAttention, "attn"},     {Slot::kAttentionOut, "attn.out_proj"},
                  {Slot::kUp, "mlp.fc_in"},     {Slot::kDown, "mlp.fc_out"},    {Slot::kFinalNorm, "ln_f"}};
  family.unused = {{"attn.bias", "the causal mask"}, {"attn.masked_bias", "what the causal mask hides"}};
  family.heads = joined(decoder_heads("ForCausalLM", true), {answer_head()});
  return family;
}

Family codegen() {
  Family family = gptj();
  family.model_types = {"codegen"};
  family.architectures = {"CodeGen"};
  family.block.value_first_groups = 4;
  for (const Slot slot : {Slot::kQuery, Slot::kKey, Slot::kValue}) family.roles.erase(slot);
  family.roles[Slot::kQueriesKeysValues] = "attn.qkv_proj";
  family.unused.emplace_back("attn.causal_mask", "the causal mask");
  family.heads = decoder_heads("ForCausalLM", true);
  return family;
}

}  // namespace bantam::convert
