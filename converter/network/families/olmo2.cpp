// OLMo 2 (arXiv 2501.00656): Llama's layers with norms behind attention and feed-forward layers alone, and of all queries and keys.
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

}  // namespace bantam::convert
