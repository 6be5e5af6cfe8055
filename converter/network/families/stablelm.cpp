// StableLM 2 (arXiv 2402.17834): Llama's layers with layer norms, and rotary positions in a part of each head;
// attention and feed-forward layers may be parallel.
#include "network/families/blocks.h"

namespace bantam::convert {

Family stablelm() {
  Family family = llama_like("stablelm", "StableLm");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50304;
  settings.positions.otherwise = 4096;
  settings.hidden.otherwise = 2560;
  settings.intermediate.otherwise = 6912;
  settings.kv_heads.otherwise = 32;
  settings.head_width = nullptr;
  settings.epsilon = "layer_norm_eps";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.part = 0.25;
  settings.parallel = {"use_parallel_residual", false};
  settings.required = {{"qk_layernorm", "false"}};
  family.block.rms_norms = false;
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  return family;
}

}  // namespace bantam::convert
