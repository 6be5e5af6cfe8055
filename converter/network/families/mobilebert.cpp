// MobileBERT (arXiv 2004.02984): narrow layers between bottlenecks, several feed-forward layers in each, norms without
// statistics, and words that are projected with their neighbors.
#include "network/families/blocks.h"

namespace bantam::convert {

Family mobilebert() {
  Family family;
  family.model_types = {"mobilebert"};
  family.base = "mobilebert";
  family.architectures = {"MobileBert"};
  Settings& settings = family.settings;
  settings.hidden.otherwise = 512;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 4;
  settings.intermediate.otherwise = 512;
  settings.embedding = {"embedding_size", 128};
  settings.activation_otherwise = "relu";
  settings.required = {{"normalization_type", "\"no_norm\""}};
  family.block.affine_norms = true;
  family.block.bottlenecks = true;
  family.roles = bert_roles();
  family.roles.erase(Slot::kFactorProjection);
  family.roles.insert({{Slot::kEmbeddingProjection, "embeddings.embedding_transformation"},
                       {Slot::kNarrow, "bottleneck.input.dense"},
                       {Slot::kNarrowNorm, "bottleneck.input.LayerNorm"},
                       {Slot::kNarrowScores, "bottleneck.attention.dense"},
                       {Slot::kNarrowScoresNorm, "bottleneck.attention.LayerNorm"},
                       {Slot::kStackUp, "ffn.{}.intermediate.dense"},
                       {Slot::kStackDown, "ffn.{}.output.dense"},
                       {Slot::kStackDownNorm, "ffn.{}.output.LayerNorm"},
                       {Slot::kWiden, "output.bottleneck.dense"},
                       {Slot::kWidenNorm, "output.bottleneck.LayerNorm"}});
  family.heads = joined(pooler_heads(), cls_heads());
  for (Head& head : family.heads) {
    if (head.task == fb::TaskKind::fill) head.layers.back().beside = "cls.predictions.dense";
  }
  return family;
}

}  // namespace bantam::convert
