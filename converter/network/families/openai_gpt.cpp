// GPT (Radford et al. 2018): GPT-2's predecessor, with norms last.
#include "network/families/blocks.h"

namespace bantam::convert {

Family openai_gpt() {
  Family family;
  family.model_types = {"openai-gpt"};
  family.base = "transformer";
  family.architectures = {"OpenAIGPT"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 40478;
  settings.positions = {"n_positions", 512};
  settings.segments = {nullptr, 0};
  settings.hidden = {"n_embd", 768};
  settings.layers = {"n_layer", 12};
  settings.heads = {"n_head", 12};
  settings.intermediate = {nullptr, 0};
  settings.widening = 4;
  settings.activation = "afn";
  settings.tanh_gelu = true;
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  family.layer = "h.{}";
  family.block.causal = true;
  family.roles = {{Slot::kWords, "tokens_embed.weight"},
                  {Slot::kPositions, "positions_embed.weight"},
                  {Slot::kQuery, "attn.c_attn^[0/3]"},
                  {Slot::kKey, "attn.c_attn^[1/3]"},
                  {Slot::kValue, "attn.c_attn^[2/3]"},
                  {Slot::kQkv, "attn.c_attn"},
                  {Slot::kHeads, "attn.heads"},
                  {Slot::kAttention, "attn"},
                  {Slot::kAttentionOut, "attn.c_proj^"},
                  {Slot::kAttentionNorm, "ln_1"},
                  {Slot::kUp, "mlp.c_fc^"},
                  {Slot::kDown, "mlp.c_proj^"},
                  {Slot::kDownNorm, "ln_2"}};
  family.unused = {{"attn.bias", "the causal mask"}};
  family.heads = decoder_heads("LMHeadModel");
  family.refused = {{"DoubleHeadsModel", "has two heads at once; --task generate converts the first"}};
  return family;
}

}  // namespace bantam::convert
