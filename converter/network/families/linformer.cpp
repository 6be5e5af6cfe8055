// Linformer (arXiv 2006.04768): BERT whose keys and values are summed over tokens by position, so that each query
// attends to a fixed number of sums whatever the text's length. No library has the class; docs/linear-attention.md
// describes its files.
#include "network/families/blocks.h"

namespace bantam::convert {

Family linformer() {
  Family family;
  family.model_types = {"linformer"};
  family.base = "linformer";
  family.architectures = {"Linformer"};
  family.settings.features = {"projected_size", 128};
  family.roles = bert_roles();
  family.roles.insert({{Slot::kTokenProjection, "encoder.projection"},
                       {Slot::kKeyProjection, "attention.self.key_projection"},
                       {Slot::kValueProjection, "attention.self.value_projection"},
                       {Slot::kKeysValues, "attention.self.key_value"},
                       {Slot::kKeySums, "attention.self.sums"}});
  family.block.projected = true;
  family.heads = joined(pooler_heads(), cls_heads());
  return family;
}

}  // namespace bantam::convert
