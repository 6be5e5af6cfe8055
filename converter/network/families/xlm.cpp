// XLM (arXiv 1901.07291) and FlauBERT (arXiv 1912.05372): BERT with other names, without segments and pooler.
#include "network/families/blocks.h"

namespace bantam::convert {

Family xlm() {
  Family family;
  family.model_types = {"xlm"};
  family.base = "transformer";
  family.anchor = "layer_norm_emb.weight";
  family.architectures = {"XLM"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 30145;
  settings.segments = {nullptr, 0};
  settings.hidden = {"emb_dim", 2048};
  settings.layers.key = "n_layers";
  settings.heads = {"n_heads", 16};
  settings.synonyms = {{"n_words", "vocab_size"}};
  settings.intermediate = {nullptr, 0};
  settings.widening = 4;
  settings.activation = nullptr;
  settings.required = {{"asm", "false"},       {"causal", "false"},   {"gelu_activation", "true"},
                       {"is_encoder", "true"}, {"pre_norm", "false"}, {"sinusoidal_embeddings", "false"}};
  family.layer = "layers.{}";
  family.numbers_behind = true;
  family.roles = {{Slot::kWords, "embeddings.weight"},
                  {Slot::kPositions, "position_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "layer_norm_emb"},
                  {Slot::kQuery, "attentions.q_lin"},
                  {Slot::kKey, "attentions.k_lin"},
                  {Slot::kValue, "attentions.v_lin"},
                  {Slot::kQkv, "attentions.qkv_lin"},
                  {Slot::kHeads, "attentions.heads"},
                  {Slot::kAttention, "attentions"},
                  {Slot::kAttentionOut, "attentions.out_lin"},
                  {Slot::kAttentionNorm, "layer_norm1"},
                  {Slot::kUp, "ffns.lin1"},
                  {Slot::kDown, "ffns.lin2"},
                  {Slot::kDownNorm, "layer_norm2"}};
  family.unused = {{"lang_embeddings.", "texts do not say their language, as by default in transformers"}};
  Head answers = answer_head();
  answers.architecture = "ForQuestionAnsweringSimple";
  family.heads =
      joined(common_heads(),
             {{fb::TaskKind::classify,
               "ForSequenceClassification",
               Rows::kFirst,
               {{"sequence_summary.summary", Out::kLabels}},
               {},
               nullptr,
               {{"summary_type", "\"first\""},
                {"summary_use_proj", "true"},
                {"summary_activation", "null"},
                {"summary_proj_to_labels", "true"}}},
              tag_head(),
              answers,
              {fb::TaskKind::fill, "WithLMHeadModel", Rows::kTokens, {{"pred_layer.proj", Out::kVocabulary}}}});
  family.refused = {{"ForQuestionAnswering", "scores ends behind likely beginnings, which is not supported here"}};
  return family;
}

Family flaubert() {
  Family family = xlm();
  family.model_types = {"flaubert"};
  family.architectures = {"Flaubert"};
  return family;
}

}  // namespace bantam::convert
