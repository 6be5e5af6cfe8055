// BERT (arXiv 1810.04805), and StructBERT (arXiv 1908.04577), which trains the same graph otherwise.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family bert() {
  Family family;
  family.model_types = {"bert", "structbert"};
  family.base = "bert";
  family.architectures = {"Bert", "StructBert", "Sbert"};
  family.roles = bert_roles();
  family.roles[Slot::kDistanceKeys] = kDistanceEmbedding;
  family.heads = joined(common_heads(), {pooled_classify_head(), tag_head(), answer_head(), pooled_choose_head()});
  family.heads = joined(std::move(family.heads), cls_heads());
  return family;
}

}  // namespace bantam::convert
