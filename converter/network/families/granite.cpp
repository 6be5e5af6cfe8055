// Granite 3 (IBM 2024): Llama's layers with factors of embeddings, scores, residual sums and logits. HyperCLOVA X Think
// (arXiv 2506.22403): the same with norms after attention and feed-forward layers, too. Granite Swash (IBM 2026): the
// same as Granite 3 with sinks, and windows in three layers of four.
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

/// Adds the sinks, windows and rotary bases of Granite Swash.
void add_sinks(Family& family) {
  family.roles[Slot::kSinks] = "self_attn.sinks";
  Settings& settings = family.settings;
  settings.window = {"sliding_window", 128};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {nullptr, 4};
  settings.full_first = true;
  settings.layer_bases = "layer_rope_theta";
}

Family granite_swa() {
  Family family = granite();
  family.model_types = {"granite_swa"};
  family.architectures = {"GraniteSWA"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 100352;
  settings.positions.otherwise = 8192;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 20;
  settings.kv_heads.otherwise = 4;
  settings.intermediate.otherwise = 8192;
  settings.epsilon_otherwise = 1e-5;
  settings.untied = false;
  add_sinks(family);
  return family;
}

Family hyperclovax() {
  Family family = granite();
  family.model_types = {"hyperclovax"};
  family.architectures = {"HyperCLOVAX"};
  Settings& settings = family.settings;
  settings.head_width = "head_dim";
  settings.score_factor_otherwise = 0;
  // A factor before a norm would have no effect.
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
