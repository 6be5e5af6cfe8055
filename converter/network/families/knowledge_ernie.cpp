// ERNIE with entities (arXiv 1905.07129): BERT; in some layers tokens are accompanied by vectors of entities.
#include <algorithm>
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family knowledge_ernie() {
  Family family;
  family.model_types = {"knowledge_ernie"};
  family.base = "bert";
  family.architectures = {"KnowledgeErnie"};
  family.settings.epsilon = nullptr;
  family.settings.entities = {"entity_count", 0};
  family.settings.entity_width = {"entity_size", 100};
  family.settings.entity_heads = {"entity_heads", 4};
  family.roles = bert_roles();
  family.roles.insert({{Slot::kEntities, "embeddings.entity_embeddings.weight"},
                       {Slot::kEntityQuery, "attention.self_ent.query"},
                       {Slot::kEntityKey, "attention.self_ent.key"},
                       {Slot::kEntityValue, "attention.self_ent.value"},
                       {Slot::kEntityOut, "attention.output_ent.dense"},
                       {Slot::kEntityAttentionNorm, "attention.output_ent.LayerNorm"},
                       {Slot::kEntityUp, "intermediate.dense_ent"},
                       {Slot::kEntityDown, "output.dense_ent"},
                       {Slot::kEntityNorm, "output.LayerNorm_ent"},
                       {Slot::kEntityQkv, "attention.self_ent.qkv"},
                       {Slot::kEntityHeads, "attention.self_ent.heads"},
                       {Slot::kEntityAttention, "attention.self_ent"}});
  HeadLayer types{"typing", Out::kLabels};
  types.bare = true;
  family.heads = pooler_heads();
  family.heads.push_back({fb::TaskKind::classify, "ForEntityTyping", Rows::kPooler, {types}});
  family.heads = joined(std::move(family.heads), cls_heads());
  // Here marks are entities; GLiNER uses them differently.
  const auto finds = [](const Head& head) { return head.task == fb::TaskKind::find; };
  family.heads.erase(std::remove_if(family.heads.begin(), family.heads.end(), finds), family.heads.end());
  family.unused = {{"output.dense_ent.", "no layer behind it reads entities"},
                   {"output.LayerNorm_ent.", "no layer behind it reads entities"},
                   {"cls.predictions_ent.", "entities are not predicted"}};
  return family;
}

}  // namespace bantam::convert
