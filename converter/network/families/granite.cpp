// Granite 3 (IBM 2024): Llama's layers with factors of embeddings, scores, sums and logits. HyperCLOVA X Think (arXiv
// 2506.22403): the same with norms behind attention and feed-forward layers, too.
#include "network/families/blocks.h"

namespace bantam::convert {

Family granite() {
  Family family = llama_like("granite", "Granite");
  Settings& settings = family.settings;
  settings.head_width = nullptr;
  settings.embedding_factor = "embedding_multiplier";
  settings.score_factor = "attention_multiplier";
  settings.added_factor = "residual_multiplier";
  family.heads = decoder_heads("ForCausalLM");
  for (Head& head : family.heads) {
    if (head.task == fb::TaskKind::generate) head.layers.back().divisor = "logits_scaling";
  }
  return family;
}

Family hyperclovax() {
  Family family = granite();
  family.model_types = {"hyperclovax"};
  family.architectures = {"HyperCLOVAX"};
  Settings& settings = family.settings;
  settings.head_width = "head_dim";
  settings.score_factor_otherwise = 0;
  // Norms take back a factor in front of them.
  settings.added_factor = nullptr;
  settings.required = {{"residual_multiplier", "1"}, {"use_post_norm", "true"}};
  family.roles[Slot::kAttentionOutNorm] = "post_norm1";
  family.roles[Slot::kDownOutNorm] = "post_norm2";
  for (Head& head : family.heads) {
    if (head.task != fb::TaskKind::generate) continue;
    head.layers.back().divisor = nullptr;
    head.layers.back().factor = "logits_scaling";
  }
  return family;
}

}  // namespace bantam::convert
