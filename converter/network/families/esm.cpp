// ESM (Rives et al. 2021; without the rotary positions of ESM-2): BERT with norms first, for proteins.
#include "network/families/blocks.h"

namespace bantam::convert {

Family esm() {
  Family family;
  family.model_types = {"esm"};
  family.base = "esm";
  family.architectures = {"Esm"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 33;
  settings.positions.otherwise = 1026;
  settings.padding = {"pad_token_id", 1};
  settings.segments = {nullptr, 0};
  settings.activation = nullptr;
  settings.required = {{"emb_layer_norm_before", "false"}, {"token_dropout", "false"}, {"is_folding_model", "false"}};
  family.block.norm_first = family.block.norm_before_all = true;
  family.roles = bert_roles();
  family.roles.erase(Slot::kSegments);
  family.roles.erase(Slot::kEmbeddingNorm);
  family.roles[Slot::kAttentionNorm] = "attention.LayerNorm";
  family.roles[Slot::kDownNorm] = "LayerNorm";
  family.roles[Slot::kFinalNorm] = "encoder.emb_layer_norm_after";
  family.unused = {{"contact_head.", "the head for contacts is not converted"}};
  family.heads = joined(common_heads(), {first_classify_head(Activation::kTanh), tag_head(), lm_head()});
  return family;
}

}  // namespace bantam::convert
