// BERT (arXiv 1810.04805), and StructBERT (arXiv 1908.04577), the same graph with other training. BERT for generation
// (arXiv 1907.12461): BERT without segments and pooler. Megatron BERT (arXiv 1909.08053): BERT with norms first.
// RemBERT (arXiv 2010.12821): BERT with narrow input embeddings and wide output embeddings. RoFormer (arXiv
// 2104.09864): BERT with rotary positions.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family bert() {
  Family family;
  family.model_types = {"bert", "structbert"};
  family.base = "bert";
  family.architectures = {"Bert", "StructBert", "Sbert"};
  family.roles = bert_roles();
  family.roles[Slot::kDistanceKeys] = kDistanceEmbedding;
  family.heads = with_language_model(joined(pooler_heads(), cls_heads()), "LMHeadModel");
  return family;
}

Family bert_generation() {
  Family family;
  family.model_types = {"bert-generation"};
  family.base = "bert";
  family.architectures = {"BertGeneration"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50358;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 1024;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 16;
  settings.intermediate.otherwise = 4096;
  family.roles = bert_roles();
  family.roles.erase(Slot::kSegments);
  family.roles.erase(Slot::kPooler);
  family.heads = {{fb::TaskKind::none, "Encoder"},
                  {fb::TaskKind::embed, nullptr},
                  {fb::TaskKind::fill,
                   "Decoder",
                   Rows::kTokens,
                   {{"lm_head.decoder", Out::kVocabulary, Activation::kNone, nullptr, "lm_head.bias"}}}};
  return family;
}

Family megatron_bert() {
  Family family = bert();
  family.model_types = {"megatron-bert"};
  family.architectures = {"MegatronBert"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 29056;
  settings.hidden.otherwise = 1024;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 16;
  settings.intermediate.otherwise = 4096;
  family.block.norm_first = family.block.norm_before_all = true;
  family.roles.erase(Slot::kDistanceKeys);
  family.roles.erase(Slot::kEmbeddingNorm);
  family.roles[Slot::kAttentionNorm] = "attention.ln";
  family.roles[Slot::kDownNorm] = "ln";
  family.roles[Slot::kFinalNorm] = "encoder.ln";
  family.heads = with_language_model(joined(pooler_heads(), cls_heads()), "ForCausalLM");
  return family;
}

Family rembert() {
  Family family;
  family.model_types = {"rembert"};
  family.base = "rembert";
  family.architectures = {"RemBert"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 250300;
  settings.hidden.otherwise = 1152;
  settings.layers.otherwise = 32;
  settings.heads.otherwise = 18;
  settings.intermediate.otherwise = 4608;
  settings.embedding = {"input_embedding_size", 256};
  settings.untied = true;
  family.block.always_projected = true;
  family.roles = bert_roles();
  family.roles[Slot::kEmbeddingProjection] = "encoder.embedding_hidden_mapping_in";
  const Head words{fb::TaskKind::fill,
                   "ForMaskedLM",
                   Rows::kTokens,
                   {{"cls.predictions.dense", Out::kInner, Activation::kOfModel, "cls.predictions.LayerNorm"},
                    {"cls.predictions.decoder", Out::kVocabulary}}};
  family.heads = with_language_model(joined(pooler_heads(), {words}), "ForCausalLM");
  return family;
}

Family roformer() {
  Family family;
  family.model_types = {"roformer"};
  family.base = "roformer";
  family.architectures = {"RoFormer"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50000;
  settings.positions.otherwise = 1536;
  settings.embedding.key = "embedding_size";
  settings.rotary.otherwise = 10000;
  settings.rotary.table = "encoder.embed_positions.weight";
  settings.required = {{"rotary_value", "false"}};
  family.block.neighbours = true;
  family.roles = bert_roles();
  family.roles.erase(Slot::kPositions);
  family.roles.erase(Slot::kPooler);
  family.roles[Slot::kEmbeddingProjection] = "embeddings_project";
  const Head words{fb::TaskKind::fill,
                   "ForMaskedLM",
                   Rows::kTokens,
                   {{"cls.predictions.transform.dense", Out::kEmbedding, Activation::kOfModel,
                     "cls.predictions.transform.LayerNorm"},
                    {"cls.predictions.decoder", Out::kVocabulary, Activation::kNone, nullptr, "cls.predictions.bias"}}};
  family.heads = joined(common_heads(), {first_classify_head(Activation::kOfModel), tag_head(), answer_head(), words});
  family.heads = with_language_model(std::move(family.heads), "ForCausalLM");
  return family;
}

}  // namespace bantam::convert
