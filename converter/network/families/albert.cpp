// ALBERT (arXiv 1909.11942): narrow embeddings that a matrix widens, groups of layers that share weights, and a head
// for the order of sentences.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family albert() {
  Family family;
  family.model_types = {"albert"};
  family.base = "albert";
  family.architectures = {"Albert"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 30000;
  settings.hidden.otherwise = 4096;
  settings.heads.otherwise = 64;
  settings.intermediate.otherwise = 16384;
  settings.embedding = {"embedding_size", 128};
  settings.groups = {"num_hidden_groups", 1};
  settings.inner_layers = {"inner_group_num", 1};
  settings.activation_otherwise = "gelu_new";
  family.layer = "encoder.albert_layer_groups.{}.albert_layers.{}";
  family.roles = {{Slot::kWords, "embeddings.word_embeddings.weight"},
                  {Slot::kPositions, "embeddings.position_embeddings.weight"},
                  {Slot::kSegments, "embeddings.token_type_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "embeddings.LayerNorm"},
                  {Slot::kEmbeddingProjection, "encoder.embedding_hidden_mapping_in"},
                  {Slot::kPooler, "pooler"},
                  {Slot::kQuery, "attention.query"},
                  {Slot::kKey, "attention.key"},
                  {Slot::kValue, "attention.value"},
                  {Slot::kAttentionOut, "attention.dense"},
                  {Slot::kAttentionNorm, "attention.LayerNorm"},
                  {Slot::kUp, "ffn"},
                  {Slot::kDown, "ffn_output"},
                  {Slot::kDownNorm, "full_layer_layer_norm"},
                  {Slot::kQkv, "attention.qkv"},
                  {Slot::kHeads, "attention.heads"},
                  {Slot::kAttention, "attention"}};
  family.heads = joined(common_heads(),
                        {pooled_classify_head(),
                         tag_head(),
                         answer_head(),
                         pooled_choose_head(),
                         {fb::TaskKind::fill,
                          "ForMaskedLM",
                          Rows::kTokens,
                          {{"predictions.dense", Out::kEmbedding, Activation::kOfModel, "predictions.LayerNorm"},
                           {"predictions.decoder", Out::kVocabulary, Activation::kNone, nullptr, "predictions.bias"}}},
                         {fb::TaskKind::next_sentence,
                          nullptr,
                          Rows::kPooler,
                          {{"sop_classifier.classifier", Out::kTwo}},
                          {"in_order", "swapped"},
                          "sop_logits"},
                         {fb::TaskKind::pretraining, "ForPreTraining"}});
  return family;
}

}  // namespace bantam::convert
