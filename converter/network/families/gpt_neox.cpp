// GPT-NeoX and Pythia (arXiv 2204.06745, 2304.01373): parallel layers with two norms, heads that are turned in part, and queries, keys
// and values in one matrix, head by head.
#include "network/families/blocks.h"

namespace bantam::convert {

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

}  // namespace bantam::convert
