// GPT-Neo (Black et al. 2021): GPT-2 with unscaled scores, and windows in every other layer.
#include "network/families/blocks.h"

namespace bantam::convert {

Family gpt_neo() {
  Family family;
  family.model_types = {"gpt_neo"};
  family.base = "transformer";
  family.architectures = {"GPTNeo"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50257;
  settings.positions.otherwise = 2048;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 2048;
  settings.layers = {"num_layers", 24};
  settings.heads = {"num_heads", 16};
  settings.intermediate = {"intermediate_size", 0};
  settings.widening = 4;
  settings.activation = "activation_function";
  settings.activation_otherwise = "gelu_new";
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.window = {"window_size", 256};
  settings.windows = Settings::Windows::kKinds;
  settings.kinds = R"([[["global", "local"], 12]])";
  family.layer = "h.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.unscaled = true;
  family.block.optional_biases = true;  // queries, keys and values have none
  family.roles = {{Slot::kWords, "wte.weight"},
                  {Slot::kPositions, "wpe.weight"},
                  {Slot::kAttentionNorm, "ln_1"},
                  {Slot::kQuery, "attn.attention.q_proj"},
                  {Slot::kKey, "attn.attention.k_proj"},
                  {Slot::kValue, "attn.attention.v_proj"},
                  {Slot::kQkv, "attn.attention.qkv"},
                  {Slot::kHeads, "attn.attention.heads"},
                  {Slot::kAttention, "attn.attention"},
                  {Slot::kAttentionOut, "attn.attention.out_proj"},
                  {Slot::kDownNorm, "ln_2"},
                  {Slot::kUp, "mlp.c_fc"},
                  {Slot::kDown, "mlp.c_proj"},
                  {Slot::kFinalNorm, "ln_f"}};
  family.unused = {{"attn.attention.bias", "the causal mask"},
                   {"attn.attention.masked_bias", "what the causal mask hides"}};
  family.heads = joined(decoder_heads("ForCausalLM"), {tag_head(), answer_head()});
  return family;
}

}  // namespace bantam::convert
