// StarCoder 2 (arXiv 2402.19173): Llama's layers with layer norms, biases and feed-forward layers without gates; all
// layers may have a window.
#include "network/families/blocks.h"

namespace bantam::convert {

Family starcoder2() {
  Family family = llama_like("starcoder2", "Starcoder2");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 49152;
  settings.positions.otherwise = 4096;
  settings.hidden.otherwise = 3072;
  settings.layers.otherwise = 30;
  settings.heads.otherwise = 24;
  settings.kv_heads.otherwise = 2;
  settings.intermediate.otherwise = 12288;
  settings.head_width = nullptr;
  settings.activation_otherwise = "gelu_pytorch_tanh";
  settings.epsilon = "norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.window = {"sliding_window", 4096};
  settings.untied = false;
  family.block.rms_norms = false;
  family.roles.erase(Slot::kGate);
  family.roles[Slot::kUp] = "mlp.c_fc";
  family.roles[Slot::kDown] = "mlp.c_proj";
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  return family;
}

}  // namespace bantam::convert
