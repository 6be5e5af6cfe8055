// EXAONE 3 (arXiv 2408.03541, 2412.04862), InternLM 3 (Shanghai AI Laboratory 2025) and IQuest-Coder (2026): Llama's
// layers under other names, or with other defaults.
#include "network/families/blocks.h"

namespace bantam::convert {

Family exaone() {
  Family family = llama_like("exaone", "Exaone");
  family.base = "transformer";
  family.other_bases = {"model"};
  family.layer = "h.{}";
  const Roles names = {{Slot::kWords, "wte.weight"},
                       {Slot::kAttentionNorm, "ln_1"},
                       {Slot::kQuery, "attn.attention.q_proj"},
                       {Slot::kKey, "attn.attention.k_proj"},
                       {Slot::kValue, "attn.attention.v_proj"},
                       {Slot::kAttentionOut, "attn.attention.out_proj"},
                       {Slot::kDownNorm, "ln_2"},
                       {Slot::kUp, "mlp.c_fc_0"},
                       {Slot::kGate, "mlp.c_fc_1"},
                       {Slot::kDown, "mlp.c_proj"},
                       {Slot::kFinalNorm, "ln_f"}};
  for (const auto& [slot, name] : names) family.roles[slot] = name;
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 102400;
  settings.positions.otherwise = 4096;
  settings.kv_heads.otherwise = 8;
  settings.intermediate.otherwise = 14336;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 500000;
  settings.synonyms = {{"num_layers", "num_hidden_layers"},
                       {"layer_norm_epsilon", "rms_norm_eps"},
                       {"activation_function", "hidden_act"}};
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family internlm3() {
  Family family = llama_like("internlm3", "InternLM3");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128512;
  settings.positions.otherwise = 32768;
  settings.layers.otherwise = 48;
  settings.kv_heads.otherwise = 2;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 10240;
  settings.epsilon_otherwise = 1e-5;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family iquestcoder() {
  Family family = llama_like("iquestcoder", "IQuestCoder");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 76800;
  settings.positions.otherwise = 131072;
  settings.hidden.otherwise = 5120;
  settings.layers.otherwise = 80;
  settings.heads.otherwise = 40;
  settings.kv_heads.otherwise = 8;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 27648;
  settings.epsilon_otherwise = 1e-5;
  settings.required.insert(settings.required.end(), {{"clip_qkv", "null"}, {"use_sliding_window", "false"}});
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
