// Nemotron 4 (arXiv 2402.16819) and Minitron: Llama's layers without gates, with layer norms whose factors are stored
// minus 1, and rotary positions in a part of each head. Arcee (2025): Llama's layers without gates. Jais 2 (2025): the
// same with layer norms and biases.
#include "network/families/blocks.h"

namespace bantam::convert {

namespace {

Family ungated(const char* model_type, const char* architecture) {
  Family family = llama_like(model_type, architecture);
  family.settings.activation_otherwise = "relu2";
  family.roles.erase(Slot::kGate);
  family.roles[Slot::kUp] = "mlp.up_proj";
  return family;
}

}  // namespace

Family nemotron() {
  Family family = ungated("nemotron", "Nemotron");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 256000;
  settings.positions.otherwise = 4096;
  settings.hidden.otherwise = 6144;
  settings.heads.otherwise = 48;
  settings.intermediate.otherwise = 24576;
  settings.epsilon = "norm_eps";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.part = 0.5;
  family.block.rms_norms = false;
  family.block.gammas_less_one = true;
  return family;
}

Family arcee() {
  Family family = ungated("arcee", "Arcee");
  Settings& settings = family.settings;
  settings.positions.otherwise = 4096;
  settings.hidden.otherwise = 2560;
  settings.intermediate.otherwise = 18432;
  settings.epsilon_otherwise = 1e-5;
  return family;
}

Family jais2() {
  Family family = ungated("jais2", "Jais2");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 150272;
  settings.positions.otherwise = 8192;
  settings.hidden.otherwise = 3328;
  settings.heads.otherwise = 26;
  settings.intermediate.otherwise = 26624;
  settings.epsilon = "layer_norm_eps";
  settings.epsilon_otherwise = 1e-5;
  family.block.rms_norms = false;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
