// Linformer (arXiv 2006.04768): BERT whose keys and values are summed over tokens by their places, so that each query looks at as many
// sums in texts of any length. No library has the class; docs/linear-attention.md says how its files are laid out.
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
