// ELECTRA (arXiv 2003.10555): BERT whose embeddings may be narrower than its layers. The discriminator predicts for
// each token whether it was replaced; the generator fills masks.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family electra() {
  Family family;
  family.model_types = {"electra"};
  family.base = "electra";
  family.architectures = {"Electra"};
  Settings& settings = family.settings;
  settings.hidden.otherwise = 256;
  settings.heads.otherwise = 4;
  settings.intermediate.otherwise = 1024;
  settings.embedding = {"embedding_size", 128};
  family.roles = bert_roles();
  family.roles[Slot::kDistanceKeys] = kDistanceEmbedding;
  family.roles.erase(Slot::kPooler);
  family.roles[Slot::kEmbeddingProjection] = "embeddings_project";
  const HeadLayer summary{"sequence_summary.summary", Out::kHidden, Activation::kOfSetting, nullptr, nullptr,
                          "summary_activation",       "gelu"};
  family.heads =
      joined(common_heads(),
             {first_classify_head(Activation::kGelu),
              tag_head(),
              {fb::TaskKind::tag,
               "ForPreTraining",
               Rows::kTokens,
               {{"discriminator_predictions.dense", Out::kHidden, Activation::kOfModel},
                {"discriminator_predictions.dense_prediction", Out::kOne}},
               {"original", "replaced"}},
              answer_head(),
              {fb::TaskKind::choose,
               "ForMultipleChoice",
               Rows::kFirst,
               {summary, {"classifier", Out::kOne}},
               {},
               nullptr,
               {{"summary_type", "\"first\""}, {"summary_use_proj", "true"}}},
              {fb::TaskKind::fill,
               "ForMaskedLM",
               Rows::kTokens,
               {{"generator_predictions.dense", Out::kEmbedding, Activation::kGelu, "generator_predictions.LayerNorm"},
                {"generator_lm_head", Out::kVocabulary}}}});
  family.heads = with_language_model(std::move(family.heads), "ForCausalLM");
  return family;
}

}  // namespace bantam::convert
