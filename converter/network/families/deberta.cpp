// DeBERTa (arXiv 2006.03654) and its versions 2 and 3 (arXiv 2111.09543): scores have terms of a query and a relative
// position, and of a key and a relative position. Versions 2 and 3 are one graph, in which far positions share buckets.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

Family with_places() {
  Family family;
  family.base = "deberta";
  family.settings.segments.otherwise = 0;
  family.settings.epsilon_otherwise = 1e-7;
  family.settings.embedding = {"embedding_size", 0};
  family.settings.any_length = true;
  family.block.places = true;
  family.block.sums_projected = true;
  family.roles = bert_roles();
  family.roles.erase(Slot::kPooler);
  family.roles.erase(Slot::kFactorProjection);
  family.roles[Slot::kPlaces] = "encoder.rel_embeddings.weight";
  family.roles[Slot::kEmbeddingProjection] = "embeddings.embed_proj";
  family.unused = {{"mask_predictions.", "what pre-training made of masks is not converted"},
                   {"embeddings.position_embeddings.", "embeddings have no positions here"}};
  const HeadLayer pooler{"pooler.dense",      Out::kHidden, Activation::kOfSetting, nullptr, nullptr,
                         "pooler_hidden_act", "gelu"};
  Head legacy = cls_heads().front();
  legacy.layers.front().out = Out::kEmbedding;
  family.heads = joined(
      common_heads(),
      {{fb::TaskKind::classify, "ForSequenceClassification", Rows::kFirst, {pooler, {"classifier", Out::kLabels}}},
       tag_head(),
       answer_head(),
       {fb::TaskKind::choose, "ForMultipleChoice", Rows::kFirst, {pooler, {"classifier", Out::kOne}}},
       legacy,
       {fb::TaskKind::fill,
        "ForMaskedLM",
        Rows::kTokens,
        {{"lm_predictions.lm_head.dense", Out::kHidden, Activation::kOfModel, "lm_predictions.lm_head.LayerNorm"},
         {"lm_predictions.lm_head.decoder", Out::kVocabulary, Activation::kNone, nullptr,
          "lm_predictions.lm_head.bias"}}}});
  return family;
}

}  // namespace

Family deberta() {
  Family family = with_places();
  family.model_types = {"deberta"};
  family.architectures = {"Deberta"};
  family.settings.vocabulary.otherwise = 50265;
  family.settings.required = {{"talking_head", "false"}};
  for (const Slot slot : {Slot::kQuery, Slot::kKey, Slot::kValue}) family.roles.erase(slot);
  family.roles.insert({{Slot::kQueriesKeysValues, "attention.self.in_proj"},
                       {Slot::kQueryBias, "attention.self.q_bias"},
                       {Slot::kValueBias, "attention.self.v_bias"},
                       {Slot::kPlaceKey, "attention.self.pos_proj"},
                       {Slot::kPlaceQuery, "attention.self.pos_q_proj"}});
  return family;
}

Family deberta_v2() {
  Family family = with_places();
  family.model_types = {"deberta-v2"};
  family.architectures = {"DebertaV2"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 128100;
  settings.hidden.otherwise = 1536;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 24;
  settings.intermediate.otherwise = 6144;
  family.roles[Slot::kPlacesNorm] = "encoder.LayerNorm";
  family.roles[Slot::kConvolution] = "encoder.conv.conv";
  family.roles[Slot::kConvolutionNorm] = "encoder.conv.LayerNorm";
  family.roles[Slot::kQuery] = "attention.self.query_proj";
  family.roles[Slot::kKey] = "attention.self.key_proj";
  family.roles[Slot::kValue] = "attention.self.value_proj";
  family.roles[Slot::kPlaceKey] = "attention.self.pos_key_proj";
  family.roles[Slot::kPlaceQuery] = "attention.self.pos_query_proj";
  return family;
}

}  // namespace bantam::convert
