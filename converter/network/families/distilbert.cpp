// DistilBERT (arXiv 1910.01108): BERT without segments and pooler, with other tensor names.
#include "network/families/blocks.h"

namespace bantam::convert {

Family distilbert() {
  Family family;
  family.model_types = {"distilbert"};
  family.base = "distilbert";
  family.architectures = {"DistilBert"};
  Settings& settings = family.settings;
  settings.segments = {};
  settings.hidden.key = "dim";
  settings.layers = {"n_layers", 6};
  settings.heads.key = "n_heads";
  settings.intermediate.key = "hidden_dim";
  settings.activation = "activation";
  settings.epsilon = nullptr;
  family.layer = "transformer.layer.{}";
  family.roles = {{Slot::kWords, "embeddings.word_embeddings.weight"},
                  {Slot::kPositions, "embeddings.position_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "embeddings.LayerNorm"},
                  {Slot::kFactorProjection, "embeddings.word_projection"},
                  {Slot::kQuery, "attention.q_lin"},
                  {Slot::kKey, "attention.k_lin"},
                  {Slot::kValue, "attention.v_lin"},
                  {Slot::kAttentionOut, "attention.out_lin"},
                  {Slot::kAttentionNorm, "sa_layer_norm"},
                  {Slot::kUp, "ffn.lin1"},
                  {Slot::kDown, "ffn.lin2"},
                  {Slot::kDownNorm, "output_layer_norm"},
                  {Slot::kQkv, "attention.qkv_lin"},
                  {Slot::kHeads, "attention.heads"},
                  {Slot::kAttention, "attention"}};
  const HeadLayer before{"pre_classifier", Out::kHidden, Activation::kRelu};
  family.heads = joined(
      common_heads(),
      {{fb::TaskKind::classify, "ForSequenceClassification", Rows::kFirst, {before, {"classifier", Out::kLabels}}},
       tag_head(),
       answer_head(),
       {fb::TaskKind::choose, "ForMultipleChoice", Rows::kFirst, {before, {"classifier", Out::kOne}}},
       {fb::TaskKind::fill,
        "ForMaskedLM",
        Rows::kTokens,
        {{"vocab_transform", Out::kHidden, Activation::kOfModel, "vocab_layer_norm"},
         {"vocab_projector", Out::kVocabulary}}}});
  return family;
}

}  // namespace bantam::convert
