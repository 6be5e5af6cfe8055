// Llama (arXiv 2302.13971, 2407.21783) and similar models.
#include "network/families/blocks.h"

namespace bantam::convert {

Family llama_like(const char* model_type, const char* architecture) {
  Family family;
  family.model_types = {model_type};
  family.base = "model";
  family.other_bases = {"transformer"};
  family.architectures = {architecture};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32000;
  settings.positions.otherwise = 2048;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 4096;
  settings.layers.otherwise = 32;
  settings.heads.otherwise = 32;
  settings.kv_heads.key = "num_key_value_heads";
  settings.head_width = "head_dim";
  settings.intermediate.otherwise = 11008;
  settings.activation_otherwise = "silu";
  settings.epsilon = "rms_norm_eps";
  settings.epsilon_otherwise = 1e-6;
  settings.rotary = {10000, "rope_theta"};
  settings.untied = true;
  settings.required = {{"pretraining_tp", "1"}};
  family.layer = "layers.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.rms_norms = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embed_tokens.weight"},
                  {Slot::kAttentionNorm, "input_layernorm"},
                  {Slot::kQuery, "self_attn.q_proj"},
                  {Slot::kKey, "self_attn.k_proj"},
                  {Slot::kValue, "self_attn.v_proj"},
                  {Slot::kQkv, "self_attn.qkv"},
                  {Slot::kHeads, "self_attn.heads"},
                  {Slot::kAttention, "self_attn"},
                  {Slot::kAttentionOut, "self_attn.o_proj"},
                  {Slot::kDownNorm, "post_attention_layernorm"},
                  {Slot::kUp, "mlp.gate_proj"},
                  {Slot::kGate, "mlp.up_proj"},
                  {Slot::kDown, "mlp.down_proj"},
                  {Slot::kFinalNorm, "norm"}};
  family.unused = {{"rotary_emb.inv_freq", "the settings say the angles"}};
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head(), answer_head()});
  return family;
}

Family llama() { return llama_like("llama", "Llama"); }

}  // namespace bantam::convert
