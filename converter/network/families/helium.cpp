// Helium (Kyutai 2025): Llama's layers; rotary positions rotate neighboring columns. ERNIE 4.5 (Baidu 2025): the same.
#include "network/families/blocks.h"

namespace bantam::convert {

Family helium() {
  Family family = llama_like("helium", "Helium");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 48000;
  settings.positions.otherwise = 4096;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 20;
  settings.kv_heads.otherwise = 20;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 7040;
  settings.epsilon_otherwise = 1e-8;
  settings.rotary.otherwise = 100000;
  family.block.neighbours = true;
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  return family;
}

Family ernie4_5() {
  Family family = llama_like("ernie4_5", "Ernie4_5");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 103424;
  settings.positions.otherwise = 131072;
  settings.hidden.otherwise = 1024;
  settings.layers.otherwise = 18;
  settings.heads.otherwise = 16;
  settings.kv_heads.otherwise = 2;
  settings.head_width_otherwise = 128;
  settings.intermediate.otherwise = 3072;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 500000;
  settings.untied = false;
  family.block.neighbours = true;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
