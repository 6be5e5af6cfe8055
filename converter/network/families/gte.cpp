// GTE (arXiv 2407.19669): BERT with rotary positions and gated feed-forward layers. Its authors' files call it "new".
#include "network/families/blocks.h"

namespace bantam::convert {

Family gte() {
  Family family;
  family.model_types = {"gte", "new"};
  family.base = "gte";
  family.architectures = {"Gte", "New"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 250048;
  settings.positions.otherwise = 8192;
  settings.segments.otherwise = 1;
  settings.lone_segment = true;
  settings.rotary = {160000, "rope_theta"};
  settings.required = {{"layer_norm_type", "\"layer_norm\""}, {"logn_attention_scale", "false"}, {"pack_qkv", "true"}};
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embeddings.word_embeddings.weight"},
                  {Slot::kSegments, "embeddings.token_type_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "embeddings.LayerNorm"},
                  {Slot::kPooler, "pooler.dense"},
                  {Slot::kQuery, "attention.qkv_proj[0/3]"},
                  {Slot::kKey, "attention.qkv_proj[1/3]"},
                  {Slot::kValue, "attention.qkv_proj[2/3]"},
                  {Slot::kAttentionOut, "attention.o_proj"},
                  {Slot::kAttentionNorm, "attn_ln"},
                  {Slot::kUp, "mlp.up_gate_proj[1/2]"},
                  {Slot::kGate, "mlp.up_gate_proj[0/2]"},
                  {Slot::kDown, "mlp.down_proj"},
                  {Slot::kDownNorm, "mlp_ln"},
                  {Slot::kQkv, "attention.qkv_proj"},
                  {Slot::kHeads, "attention.heads"},
                  {Slot::kAttention, "attention"}};
  family.heads = joined(pooler_heads(), {lm_head("lm_head.norm")});
  return family;
}

}  // namespace bantam::convert
