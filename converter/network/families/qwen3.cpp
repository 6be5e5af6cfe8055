// Qwen 3 (arXiv 2505.09388): Qwen 2 without biases, and with norms of each head's queries and keys.
#include "network/families/blocks.h"

namespace bantam::convert {

Family qwen3() {
  Family family = llama_like("qwen3", "Qwen3");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 151936;
  settings.intermediate.otherwise = 22016;
  settings.positions.otherwise = 32768;
  settings.kv_heads.otherwise = 32;
  settings.head_width_otherwise = 128;
  settings.window = {"sliding_window", 4096};
  settings.windows = Settings::Windows::kFrom;
  family.block.head_norms = true;
  family.roles.insert({{Slot::kQueryNorm, "self_attn.q_norm"}, {Slot::kKeyNorm, "self_attn.k_norm"}});
  return family;
}

}  // namespace bantam::convert
