// Longformer (arXiv 2004.05150): RoBERTa whose tokens see a window, and global tokens, which see all tokens through
// their own projections.
#include "network/families/blocks.h"

namespace bantam::convert {

Family longformer() {
  Family family;
  family.model_types = {"longformer"};
  family.base = "longformer";
  family.architectures = {"Longformer"};
  family.settings.padding = {"pad_token_id", 1};
  family.settings.lone_segment = true;
  family.settings.spans = "attention_window";
  family.settings.dilations = "attention_dilation";
  family.roles = bert_roles();
  family.roles[Slot::kGlobalQuery] = "attention.self.query_global";
  family.roles[Slot::kGlobalKey] = "attention.self.key_global";
  family.roles[Slot::kGlobalValue] = "attention.self.value_global";
  family.roles[Slot::kGlobalKeysValues] = "attention.self.key_value_global";
  family.roles[Slot::kGlobalHeads] = "attention.self.heads_global";
  family.roles[Slot::kGlobalAttention] = "attention.self.global";
  family.heads = joined(common_heads(), {first_classify_head(Activation::kTanh), tag_head(), answer_head(),
                                         pooled_choose_head(), lm_head()});
  family.unused = {{"_global.", "no token is global for this task"}};
  return family;
}

}  // namespace bantam::convert
