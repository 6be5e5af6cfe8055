// RETRO (Borgeaud et al. 2021, arXiv 2112.04426): a decoder that reads texts which were retrieved for each chunk of its own. No library
// writes such directories: docs/retro.md says what stands in them.
#include "import/families/blocks.h"

namespace bantam::convert {

Family retro() {
  Family family;
  family.model_types = {"retro"};
  family.base = "model";
  family.architectures = {"Retro"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128000;
  settings.positions.otherwise = 2048;
  settings.any_length = true;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 896;
  settings.heads.otherwise = 16;
  settings.head_width = "head_dim";
  settings.intermediate.otherwise = 3584;
  settings.activation_otherwise = "gelu_new";
  settings.epsilon = "rms_norm_eps";
  settings.epsilon_otherwise = 1e-6;
  settings.untied = true;
  family.layer = "decoder.layers.{}";
  Block& block = family.block;
  block.retro = block.causal = block.shifted = block.rms_norms = block.optional_biases = true;
  family.roles = {{Slot::kWords, "decoder.embeddings.weight"}};
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  family.heads = {{fb::TaskKind::none, "Model"}, {fb::TaskKind::generate, "ForCausalLM", Rows::kTokens, {words}}};
  return family;
}

}  // namespace bantam::convert
