// Transformer-XL (arXiv 1901.02860): a decoder with relative positions; tokens see as many earlier tokens as the memory
// holds, and words are in clusters.
#include "network/families/blocks.h"

namespace bantam::convert {

Family transfo_xl() {
  Family family;
  family.model_types = {"transfo-xl"};
  family.base = "transformer";
  family.architectures = {"TransfoXL"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 267735;
  settings.positions = {"bantam_positions", 1024};  // the model itself has no limit
  settings.any_length = true;
  settings.segments = {nullptr, 0};
  settings.hidden = {"d_model", 1024};
  settings.layers = {"n_layer", 18};
  settings.heads = {"n_head", 16};
  settings.head_width = "d_head";
  settings.head_width_otherwise = 64;
  settings.intermediate = {"d_inner", 4096};
  settings.activation_otherwise = "relu";
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.scaled_embeddings = true;
  settings.window = {"mem_len", 1600};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {nullptr, 1U << 20};  // no layer sees all tokens
  settings.window_counts_itself = "same_length";
  settings.clamp_otherwise = 1000;
  settings.required = {{"attn_type", "0"}, {"pre_lnorm", "false"}};
  family.layer = "layers.{}";
  family.block.causal = family.block.shifted = family.block.clustered = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "word_emb.emb_layers.0.weight"},
                  {Slot::kQuery, "dec_attn.qkv_net[0/3]"},
                  {Slot::kKey, "dec_attn.qkv_net[1/3]"},
                  {Slot::kValue, "dec_attn.qkv_net[2/3]"},
                  {Slot::kQueryBias, "dec_attn.r_w_bias"},
                  {Slot::kPlaceKey, "dec_attn.r_net"},
                  {Slot::kPlaceBias, "dec_attn.r_r_bias"},
                  {Slot::kAttentionOut, "dec_attn.o_net"},
                  {Slot::kAttentionNorm, "dec_attn.layer_norm"},
                  {Slot::kUp, "pos_ff.CoreNet.0"},
                  {Slot::kDown, "pos_ff.CoreNet.3"},
                  {Slot::kDownNorm, "pos_ff.layer_norm"},
                  {Slot::kQkv, "dec_attn.qkv"},
                  {Slot::kHeads, "dec_attn.heads"},
                  {Slot::kAttention, "dec_attn"}};
  family.heads = decoder_heads("LMHeadModel", true);
  for (Head& head : family.heads) {
    if (head.task == fb::TaskKind::generate) head.layers.front().name = "crit.out_layers.0";
  }
  family.unused = {{"pos_emb.inv_freq", "places are made of the settings"},
                   {"crit.", "scores of words are not converted for this task"}};
  return family;
}

}  // namespace bantam::convert
