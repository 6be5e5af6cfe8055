// Mistral (arXiv 2310.06825): Llama's layers, all of which may see a window.
#include "network/families/blocks.h"

namespace bantam::convert {

Family mistral() {
  Family family = llama_like("mistral", "Mistral");
  family.settings.intermediate.otherwise = 14336;
  family.settings.positions.otherwise = 4096 * 32;
  family.settings.kv_heads.otherwise = 8;
  family.settings.window = {"sliding_window", 4096};
  return family;
}

}  // namespace bantam::convert
