// MPNet (arXiv 2004.09297): RoBERTa whose scores have a bias for the bucket of the distance between two tokens.
#include "network/families/blocks.h"

namespace bantam::convert {

Family mpnet() {
  Family family;
  family.model_types = {"mpnet"};
  family.base = "mpnet";
  family.architectures = {"MPNet"};
  family.settings.vocabulary.otherwise = 30527;
  family.settings.segments = {nullptr, 0};
  // transformers begins after this row, whatever pad_token_id is.
  family.settings.padding = {nullptr, 1};
  family.settings.padding_is_fixed = true;
  // transformers has a setting for the table's rows, but always uses 32 buckets.
  family.settings.buckets = {nullptr, 32};
  family.roles = bert_roles();
  family.roles.erase(Slot::kSegments);
  const Roles attention = {{Slot::kDistances, "encoder.relative_attention_bias.weight"},
                           {Slot::kQuery, "attention.attn.q"},
                           {Slot::kKey, "attention.attn.k"},
                           {Slot::kValue, "attention.attn.v"},
                           {Slot::kQkv, "attention.attn.qkv"},
                           {Slot::kHeads, "attention.attn.heads"},
                           {Slot::kAttention, "attention.attn"},
                           {Slot::kAttentionOut, "attention.attn.o"},
                           {Slot::kAttentionNorm, "attention.LayerNorm"}};
  for (const auto& [slot, name] : attention) family.roles[slot] = name;
  family.heads = joined(common_heads(), {first_classify_head(Activation::kTanh), tag_head(), answer_head(),
                                         pooled_choose_head(), lm_head()});
  return family;
}

}  // namespace bantam::convert
