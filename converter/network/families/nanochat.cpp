// nanochat (Karpathy 2025): Llama's layers without gates and without factors of norms; rotary positions rotate
// backwards, and embeddings and heads have norms. BitNet b1.58 (arXiv 2504.12285): Llama's layers with norms before
// both output matrices.
#include "network/families/blocks.h"

namespace bantam::convert {

Family nanochat() {
  Family family = llama_like("nanochat", "NanoChat");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50304;
  settings.hidden.otherwise = 768;
  settings.layers.otherwise = 12;
  settings.heads.otherwise = 6;
  settings.kv_heads.otherwise = 6;
  settings.intermediate.otherwise = 8192;
  settings.activation_otherwise = "relu2";
  settings.rotary.backwards = true;
  Block& block = family.block;
  block.plain_norms = block.head_norms = true;
  family.roles.erase(Slot::kGate);
  family.roles[Slot::kUp] = "mlp.fc1";
  family.roles[Slot::kDown] = "mlp.fc2";
  family.roles[Slot::kEmbeddingNorm] = "embed_norm";
  // Its own code norms heads after the rotation, which does not change their lengths.
  family.roles[Slot::kQueryNorm] = "self_attn.q_norm";
  family.roles[Slot::kKeyNorm] = "self_attn.k_norm";
  family.heads = decoder_heads("ForCausalLM");
  for (Head& head : family.heads) {
    if (head.task != fb::TaskKind::generate) continue;
    head.layers.back().cap = "final_logit_softcapping";
    head.layers.back().cap_otherwise = 15;
  }
  return family;
}

Family bitnet() {
  Family family = llama_like("bitnet", "BitNet");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128256;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 30;
  settings.heads.otherwise = 20;
  settings.kv_heads.otherwise = 5;
  settings.head_width = nullptr;
  settings.intermediate.otherwise = 6912;
  settings.activation_otherwise = "relu2";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 500000;
  family.roles[Slot::kContextNorm] = "self_attn.attn_sub_norm";
  family.roles[Slot::kWideNorm] = "mlp.ffn_sub_norm";
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
