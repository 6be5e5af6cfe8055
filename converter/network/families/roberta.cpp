// RoBERTa (arXiv 1907.11692), and XLM-RoBERTa and CamemBERT, which are RoBERTa with other vocabularies: BERT whose positions
// begin behind the padding token's, with heads of their own.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family roberta() {
  Family family;
  family.model_types = {"roberta", "xlm-roberta", "camembert"};
  family.base = "roberta";
  family.architectures = {"Roberta", "XLMRoberta", "Camembert"};
  family.settings.vocabulary.otherwise = 50265;
  family.settings.padding = {"pad_token_id", 1};
  family.settings.lone_segment = true;
  family.roles = bert_roles();
  family.roles[Slot::kDistanceKeys] = kDistanceEmbedding;
  family.heads = joined(common_heads(), {first_classify_head(Activation::kTanh), tag_head(), answer_head(),
                                         pooled_choose_head(), lm_head()});
  return family;
}

}  // namespace bantam::convert
