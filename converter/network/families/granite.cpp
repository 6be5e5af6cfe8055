// Granite 3 (IBM 2024): Llama's layers with factors of embeddings, scores, sums and logits.
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

}  // namespace bantam::convert
