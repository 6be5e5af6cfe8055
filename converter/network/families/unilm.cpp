// UniLM (arXiv 1905.03197): BERT, whose mask config.json names. Its larger table of segments has rows for each mask.
#include "network/families/blocks.h"

namespace bantam::convert {

Family bert();

Family unilm() {
  Family family = bert();
  family.model_types = {"unilm"};
  family.settings.mask = "unilm_mask";
  return family;
}

}  // namespace bantam::convert
