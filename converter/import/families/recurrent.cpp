// Recurrent: words' vectors, LSTM or GRU layers above them as PyTorch stores them, and a head. No library writes such directories:
// docs/recurrent.md says what stands in them.
#include "import/families/blocks.h"

namespace bantam::convert {

Family recurrent() {
  Family family = above_words("recurrent", "Recurrent");
  family.block.recurrent = true;
  return family;
}

}  // namespace bantam::convert
