// OPT (arXiv 2205.01068): a decoder with norms in front, and positions that begin with row 2 of their table.
#include "network/families/blocks.h"

namespace bantam::convert {

Family opt() {
  Family family;
  family.model_types = {"opt"};
  family.base = "decoder";
  family.other_bases = {"model.decoder"};
  family.architectures = {"OPT"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50272;
  settings.positions.otherwise = 2048;
  settings.positions_in_front = 2;
  settings.segments = {nullptr, 0};
  settings.intermediate = {"ffn_dim", 3072};
  settings.activation = "activation_function";
  settings.activation_otherwise = "relu";
  settings.epsilon = nullptr;
  settings.epsilon_otherwise = 1e-5;
  settings.required = {{"do_layer_norm_before", "true"},
                       {"_remove_final_layer_norm", "false"},
                       {"layer_norm_elementwise_affine", "true"}};
  family.layer = "layers.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embed_tokens.weight"},
                  {Slot::kPositions, "embed_positions.weight"},
                  {Slot::kAttentionNorm, "self_attn_layer_norm"},
                  {Slot::kQuery, "self_attn.q_proj"},
                  {Slot::kKey, "self_attn.k_proj"},
                  {Slot::kValue, "self_attn.v_proj"},
                  {Slot::kQkv, "self_attn.qkv"},
                  {Slot::kHeads, "self_attn.heads"},
                  {Slot::kAttention, "self_attn"},
                  {Slot::kAttentionOut, "self_attn.out_proj"},
                  {Slot::kDownNorm, "final_layer_norm"},
                  {Slot::kUp, "fc1"},
                  {Slot::kDown, "fc2"},
                  {Slot::kFinalNorm, "final_layer_norm"}};
  family.heads = joined(decoder_heads("ForCausalLM"), {answer_head()});
  return family;
}

}  // namespace bantam::convert
