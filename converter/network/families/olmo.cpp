// OLMo (arXiv 2402.00838): Llama's layers, whose layer norms have neither factors nor biases.
#include "network/families/blocks.h"

namespace bantam::convert {

Family olmo() {
  Family family = llama_like("olmo", "Olmo");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50304;
  settings.epsilon = nullptr;
  settings.epsilon_otherwise = 1e-5;
  settings.required.emplace_back("clip_qkv", "null");
  family.block.rms_norms = false;
  family.block.plain_norms = true;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
