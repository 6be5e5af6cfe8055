// ELMo (arXiv 1802.05365): vectors of words, made of their characters or not, a stack of LSTM layers for each direction, and a mixture of
// all of them. docs/elmo.md says what stands in its directories.
#include "import/families/blocks.h"

namespace bantam::convert {

Family elmo() {
  Family family = above_words("elmo", "Elmo");
  family.block.recurrent = true;
  family.block.bilm = true;
  family.settings.required = {{"bidirectional", "true"}};
  family.heads.push_back({fb::TaskKind::embed, nullptr});
  return family;
}

}  // namespace bantam::convert
