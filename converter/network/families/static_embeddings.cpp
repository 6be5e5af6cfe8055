// Static embeddings: a text's vector is the average of its tokens' rows in a table (model2vec, sentence-transformers).
#include "network/families/blocks.h"

namespace bantam::convert {

Family static_embeddings() {
  Family family;
  family.model_types = {"model2vec"};
  family.base = "static";
  family.architectures = {"Static"};
  Settings& settings = family.settings;
  settings.positions = {"max_length", 512};
  settings.segments = {nullptr, 0};
  settings.hidden.key = "hidden_dim";
  settings.layers = {nullptr, 0};
  settings.heads = {nullptr, 1};
  settings.intermediate = {nullptr, 1};
  settings.epsilon = nullptr;
  family.block.averaged = true;
  family.roles = {{Slot::kWords, "embeddings"}};
  family.heads = {{fb::TaskKind::embed, nullptr}};
  return family;
}

}  // namespace bantam::convert
