// Recurrent: words' vectors, LSTM or GRU layers above them as PyTorch stores them, and a head. No library writes such directories:
// docs/recurrent.md says what stands in them.
#include "network/families/blocks.h"

namespace bantam::convert {

Family recurrent() {
  Family family = above_words("recurrent", "Recurrent");
  family.block.recurrent = true;
  // Skip-thought vectors (arXiv 1506.06726), InferSent (arXiv 1705.02364).
  family.heads.push_back({fb::TaskKind::embed, "ForSentenceEmbedding", Rows::kState});
  return family;
}

}  // namespace bantam::convert
