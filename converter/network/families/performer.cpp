// Performer (arXiv 2009.14794): BERT whose attention uses random features of queries and keys, and has the same cost
// per token for texts of any length. No library has the class; docs/linear-attention.md describes its files.
#include "network/families/blocks.h"

namespace bantam::convert {

Family performer() {
  Family family;
  family.model_types = {"performer"};
  family.base = "performer";
  family.architectures = {"Performer"};
  family.settings.positions.otherwise = 4096;
  family.settings.features = {"nb_features", 256};
  family.roles = bert_roles();
  family.roles.insert({{Slot::kFeatureMatrix, "attention.self.features"},
                       {Slot::kKeysValues, "attention.self.key_value"},
                       {Slot::kKeySums, "attention.self.sums"}});
  family.block.features = true;
  family.heads = joined(pooler_heads(), cls_heads());
  return family;
}

}  // namespace bantam::convert
