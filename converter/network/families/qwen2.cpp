// Qwen 2 (arXiv 2407.10671): Llama's layers, with biases of queries, keys and values, and windows in the upper ones where the settings
// say so.
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

}  // namespace bantam::convert
