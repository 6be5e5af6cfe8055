// XLNet (arXiv 1906.08237): relative positions, whose sinusoids each layer projects; segments enter scores only; heads
// read a text's last token.
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

/// The layer that transformers applies to a text's row before its heads.
HeadLayer summary() {
  HeadLayer layer = {"sequence_summary.summary", Out::kHidden, Activation::kOfSetting, nullptr, nullptr,
                     "summary_activation",       "tanh"};
  layer.only_if = "summary_use_proj";
  return layer;
}

/// Ends of answers are scored for each of the likeliest begins.
Head search_head() {
  Head head = {fb::TaskKind::answer,
               "ForQuestionAnswering",
               Rows::kTokens,
               {{"start_logits.dense", Out::kOne},
                {"end_logits.dense_0", Out::kHidden, Activation::kTanh, "end_logits.LayerNorm"},
                {"end_logits.dense_1", Out::kOne},
                {"answer_class.dense_0", Out::kHidden, Activation::kTanh},
                {"answer_class.dense_1", Out::kOne}}};
  head.layers[1].two_rows = head.layers[3].two_rows = head.layers[4].bare = true;
  head.searches = true;
  return head;
}

}  // namespace

Family xlnet() {
  Family family;
  family.model_types = {"xlnet"};
  family.base = "transformer";
  family.architectures = {"XLNet"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32000;
  // Published files state no limit of positions, and transformers refuses the usual key.
  settings.positions = {"bantam_positions", 512};
  settings.any_length = true;
  settings.segments = {nullptr, 4};  // two texts, the shared last token, and padding
  settings.hidden = {"d_model", 1024};
  settings.layers = {"n_layer", 24};
  settings.heads = {"n_head", 16};
  settings.intermediate = {"d_inner", 4096};
  settings.activation = "ff_activation";
  settings.synonyms = {{"n_token", "vocab_size"}};
  settings.required = {{"attn_type", "\"bi\""}, {"bi_data", "false"}};
  family.layer = "layer.{}";
  family.block.shifted = family.block.by_head = true;
  family.roles = {{Slot::kWords, "word_embedding.weight"},
                  {Slot::kQuery, "rel_attn.q"},
                  {Slot::kKey, "rel_attn.k"},
                  {Slot::kValue, "rel_attn.v"},
                  {Slot::kQueryBias, "rel_attn.r_w_bias"},
                  {Slot::kPlaceKey, "rel_attn.r"},
                  {Slot::kPlaceBias, "rel_attn.r_r_bias"},
                  {Slot::kSegmentBias, "rel_attn.r_s_bias"},
                  {Slot::kSegmentKeys, "rel_attn.seg_embed"},
                  {Slot::kAttentionOut, "rel_attn.o"},
                  {Slot::kAttentionNorm, "rel_attn.layer_norm"},
                  {Slot::kUp, "ff.layer_1"},
                  {Slot::kDown, "ff.layer_2"},
                  {Slot::kDownNorm, "ff.layer_norm"},
                  {Slot::kQkv, "rel_attn.qkv"},
                  {Slot::kHeads, "rel_attn.heads"},
                  {Slot::kAttention, "rel_attn"}};
  family.unused = {{"mask_emb", "only the query stream of pre-training reads it"}};
  Head words = {fb::TaskKind::fill, "LMHeadModel", Rows::kTokens, {{"lm_loss", Out::kVocabulary}}};
  Head answer = answer_head();
  answer.architecture = "ForQuestionAnsweringSimple";
  family.heads =
      joined(common_heads(),
             {{fb::TaskKind::classify,
               "ForSequenceClassification",
               Rows::kSummary,
               {summary(), {"logits_proj", Out::kLabels}}},
              tag_head(),
              answer,
              search_head(),
              {fb::TaskKind::choose, "ForMultipleChoice", Rows::kSummary, {summary(), {"logits_proj", Out::kOne}}},
              words});
  return family;
}

}  // namespace bantam::convert
