// Qwen 2 (arXiv 2407.10671): Llama's layers with biases of queries, keys and values, and optional windows in the upper
// layers. Seed-OSS (ByteDance 2025): the same without windows. CWM (arXiv 2510.02387): Llama's layers, three of four
// with windows. Emu 3 (arXiv 2409.18869): its model of text and image tokens is Llama's.
#include "network/families/blocks.h"

namespace bantam::convert {

Family qwen2() {
  Family family = llama_like("qwen2", "Qwen2");
  family.settings.vocabulary.otherwise = 151936;
  family.settings.intermediate.otherwise = 22016;
  family.settings.positions.otherwise = 32768;
  family.settings.window = {"sliding_window", 4096};
  family.settings.windows = Settings::Windows::kFrom;
  return family;
}

Family seed_oss() {
  Family family = llama_like("seed_oss", "SeedOss");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 155136;
  settings.positions.otherwise = 524288;
  settings.layers.otherwise = 64;
  settings.heads.otherwise = 80;
  settings.kv_heads.otherwise = 8;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 27648;
  return family;
}

Family cwm() {
  Family family = llama_like("cwm", "Cwm");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128256;
  settings.positions.otherwise = 131072;
  settings.hidden.otherwise = 6144;
  settings.layers.otherwise = 64;
  settings.heads.otherwise = 48;
  settings.kv_heads.otherwise = 8;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 21504;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 1e6;
  settings.rotary.parameters_otherwise =
      R"({"rope_type": "llama3", "factor": 16, "low_freq_factor": 1, "high_freq_factor": 4,
          "original_max_position_embeddings": 8192})";
  settings.window = {"sliding_window", 8192};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {nullptr, 4};
  settings.full_first = true;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family emu3() {
  Family family = llama_like("emu3_text_model", "Emu3");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 184622;
  settings.positions.otherwise = 9216;
  settings.kv_heads.otherwise = 8;
  settings.intermediate.otherwise = 14336;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 1e6;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
