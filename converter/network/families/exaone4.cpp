// EXAONE 4 (arXiv 2507.11407): OLMo 2's layers with norms of each head; three layers of four have windows, and the
// others have no positions.
#include "network/families/blocks.h"

namespace bantam::convert {

Family exaone4() {
  Family family = llama_like("exaone4", "Exaone4");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 102400;
  settings.intermediate.otherwise = 16384;
  settings.epsilon_otherwise = 1e-5;
  settings.window = {"sliding_window", 4096};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {"sliding_window_pattern", 4};
  settings.turned_in_windows = true;
  family.block.head_norms = true;
  family.roles.erase(Slot::kAttentionNorm);
  family.roles.erase(Slot::kDownNorm);
  family.roles.insert({{Slot::kQueryNorm, "self_attn.q_norm"},
                       {Slot::kKeyNorm, "self_attn.k_norm"},
                       {Slot::kAttentionOutNorm, "post_attention_layernorm"},
                       {Slot::kDownOutNorm, "post_feedforward_layernorm"}});
  return family;
}

}  // namespace bantam::convert
