// PaLM (arXiv 2204.02311): parallel layers with one norm without a bias, one head of keys and values for all queries,
// and tied embeddings. LaMDA (arXiv 2201.08239): T5's layers (arXiv 1910.10683, 2002.05202) as a decoder. No library
// has either; docs/models.md lists the names.
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

Family of_paper(const char* model_type, const char* architecture) {
  Family family = llama_like(model_type, architecture);
  family.other_bases = {};
  family.roles[Slot::kAttentionNorm] = "input_norm";
  family.roles[Slot::kQuery] = "attn.q_proj";
  family.roles[Slot::kKey] = "attn.k_proj";
  family.roles[Slot::kValue] = "attn.v_proj";
  family.roles[Slot::kQkv] = "attn.qkv";
  family.roles[Slot::kHeads] = "attn.heads";
  family.roles[Slot::kAttention] = "attn";
  family.roles[Slot::kAttentionOut] = "attn.o_proj";
  family.settings.head_width_otherwise = 128;
  family.unused = {};
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace

Family palm() {
  Family family = of_paper("palm", "PaLM");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 256000;
  settings.epsilon = "layer_norm_eps";
  settings.epsilon_otherwise = 1e-5;
  settings.kv_heads.otherwise = 1;
  settings.parallel = {nullptr, true};
  settings.untied = false;
  family.block.rms_norms = false;
  family.roles.erase(Slot::kDownNorm);
  for (Head& head : family.heads) {
    if (head.task == fb::TaskKind::generate) head.layers.back().over_root = true;
  }
  return family;
}

Family lamda() {
  Family family = of_paper("lamda", "LaMDA");
  Settings& settings = family.settings;
  settings.kv_heads = {};
  settings.activation_otherwise = "gelu_new";
  settings.rotary = {};
  settings.buckets = {"relative_attention_num_buckets", 32};
  settings.most_distance = {"relative_attention_max_distance", 128};
  family.block.unscaled = true;
  family.roles[Slot::kDistances] = "relative_attention_bias.weight";
  family.roles[Slot::kDownNorm] = "mlp_norm";
  return family;
}

}  // namespace bantam::convert
