// Gemma (arXiv 2403.08295, 2408.00118, 2503.19786): Llama's layers with scaled embeddings, GELU gates, and factors of
// norms stored minus 1. Gemma 2 also has norms after attention and feed-forward layers, capped scores, and windows in
// every other layer. Gemma 3 replaces the caps by norms of each head's queries and keys; five layers of six have
// windows, with a smaller rotary base. VaultGemma (arXiv 2510.15001): Gemma 2 without the norms after layers.
#include "network/families/blocks.h"

namespace bantam::convert {

namespace {

/// The settings that all Gemma models share.
Family gemma_like(const char* model_type, const char* architecture) {
  Family family = llama_like(model_type, architecture);
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 256000;
  settings.positions.otherwise = 8192;
  settings.heads.otherwise = 8;
  settings.kv_heads.otherwise = 4;
  settings.head_width_otherwise = 256;
  settings.intermediate.otherwise = 9216;
  settings.layers.otherwise = 26;
  settings.hidden.otherwise = 2304;
  settings.activation_otherwise = "gelu_pytorch_tanh";
  settings.scaled_embeddings = true;
  settings.untied = false;
  family.block.gammas_less_one = true;
  return family;
}

/// Caps vocabulary scores as the settings say, or else at `otherwise`; 0: no cap.
void cap_words(Family* family, double otherwise) {
  for (Head& head : family->heads) {
    if (head.task != fb::TaskKind::generate) continue;
    head.layers.back().cap = "final_logit_softcapping";
    head.layers.back().cap_otherwise = otherwise;
  }
}

/// The parts that Gemma 2 and 3 share.
Family with_four_norms(const char* model_type, const char* architecture) {
  Family family = gemma_like(model_type, architecture);
  Settings& settings = family.settings;
  settings.activation = "hidden_activation";
  settings.score_width = {"query_pre_attn_scalar", 256};
  settings.soft_cap = "attn_logit_softcapping";
  settings.window = {"sliding_window", 4096};
  settings.windows = Settings::Windows::kEvery;
  family.roles[Slot::kAttentionOutNorm] = "post_attention_layernorm";
  family.roles[Slot::kDownNorm] = "pre_feedforward_layernorm";
  family.roles[Slot::kDownOutNorm] = "post_feedforward_layernorm";
  return family;
}

}  // namespace

Family gemma() {
  Family family = gemma_like("gemma", "Gemma");
  Settings& settings = family.settings;
  settings.hidden.otherwise = 3072;
  settings.intermediate.otherwise = 24576;
  settings.layers.otherwise = 28;
  settings.heads.otherwise = 16;
  settings.kv_heads.otherwise = 16;
  // The first files state "gelu" and mean its tanh approximation.
  settings.tanh_gelu = true;
  return family;
}

Family gemma2() {
  Family family = with_four_norms("gemma2", "Gemma2");
  family.settings.soft_cap_otherwise = 50;
  family.settings.full_every = {nullptr, 2};
  cap_words(&family, 30);
  return family;
}

Family gemma3() {
  Family family = with_four_norms("gemma3_text", "Gemma3Text");
  family.architectures.push_back("Gemma3");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 262208;
  settings.positions.otherwise = 131072;
  settings.rotary.otherwise = 1000000;
  settings.local_rotary = {10000, "rope_local_base_freq"};
  settings.full_every = {"sliding_window_pattern", 6};
  settings.both_ways = {"use_bidirectional_attention", false};
  // transformers reads this setting but does not cap scores.
  settings.soft_cap = nullptr;
  settings.required.emplace_back("attn_logit_softcapping", "null");
  cap_words(&family, 0);
  family.block.head_norms = true;
  family.roles.insert({{Slot::kQueryNorm, "self_attn.q_norm"}, {Slot::kKeyNorm, "self_attn.k_norm"}});
  return family;
}

Family vaultgemma() {
  Family family = gemma2();
  family.model_types = {"vaultgemma"};
  family.architectures = {"VaultGemma"};
  family.roles.erase(Slot::kAttentionOutNorm);
  family.roles.erase(Slot::kDownOutNorm);
  family.heads = decoder_heads("ForCausalLM");
  cap_words(&family, 30);
  return family;
}

}  // namespace bantam::convert
