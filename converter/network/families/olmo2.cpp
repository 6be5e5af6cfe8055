// OLMo 2 (arXiv 2501.00656): Llama's layers with norms only after attention and feed-forward layers, and norms over all
// queries and over all keys of a token. OLMo 3 (Ai2 2025): the same with windows in three layers of four, whose rotary
// positions are not scaled.
#include "network/families/blocks.h"

namespace bantam::convert {

Family olmo2() {
  Family family = llama_like("olmo2", "Olmo2");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50304;
  settings.epsilon_otherwise = 1e-5;
  settings.head_width = nullptr;
  family.roles.erase(Slot::kAttentionNorm);
  family.roles.erase(Slot::kDownNorm);
  family.roles.insert({{Slot::kQueryNorm, "self_attn.q_norm"},
                       {Slot::kKeyNorm, "self_attn.k_norm"},
                       {Slot::kAttentionOutNorm, "post_attention_layernorm"},
                       {Slot::kDownOutNorm, "post_feedforward_layernorm"}});
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family olmo3() {
  Family family = olmo2();
  family.model_types = {"olmo3"};
  family.architectures = {"Olmo3"};
  Settings& settings = family.settings;
  settings.rotary.otherwise = 500000;
  settings.local_rotary = {500000, "rope_theta"};
  settings.window = {"sliding_window", 4096};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {nullptr, 4};
  return family;
}

}  // namespace bantam::convert
