// The neural probabilistic language model of Bengio et al. (JMLR 3, 2003): the vectors of a few words side by side, a hidden layer, and
// scores of the next word. docs/nplm.md says what stands in its directories.
#include "import/families/blocks.h"

namespace bantam::convert {

Family nplm() {
  Family family = above_words("nplm", "Nplm");
  family.block.nplm = true;
  family.block.causal = true;
  family.settings.untied = true;
  family.settings.required = {{"tie_word_embeddings", "false"}};
  family.heads.erase(family.heads.begin() + 1, family.heads.end());
  family.heads.push_back(
      {fb::TaskKind::generate, "ForCausalLM", Rows::kTokens, {{"output", HeadLayer::Out::kVocabulary}}});
  family.heads.push_back({fb::TaskKind::none, "Model"});
  family.unused = {{"direct.", "the scores of words are not converted for this task"}};
  return family;
}

}  // namespace bantam::convert
