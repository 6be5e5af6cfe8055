#include "network/families/blocks.h"

#include <iterator>
#include <utility>

#include "source/labels.h"

namespace bantam::convert {

Roles bert_roles() {
  return {{Slot::kWords, "embeddings.word_embeddings.weight"},
          {Slot::kPositions, "embeddings.position_embeddings.weight"},
          {Slot::kSegments, "embeddings.token_type_embeddings.weight"},
          {Slot::kEmbeddingNorm, "embeddings.LayerNorm"},
          {Slot::kFactorProjection, "embeddings.word_projection"},
          {Slot::kPooler, "pooler.dense"},
          {Slot::kQuery, "attention.self.query"},
          {Slot::kKey, "attention.self.key"},
          {Slot::kValue, "attention.self.value"},
          {Slot::kAttentionOut, "attention.output.dense"},
          {Slot::kAttentionNorm, "attention.output.LayerNorm"},
          {Slot::kUp, "intermediate.dense"},
          {Slot::kDown, "output.dense"},
          {Slot::kDownNorm, "output.LayerNorm"},
          {Slot::kQkv, "attention.self.qkv"},
          {Slot::kHeads, "attention.self.heads"},
          {Slot::kAttention, "attention.self"}};
}

Roles falcon_roles() {
  return {{Slot::kWords, "word_embeddings.weight"},
          {Slot::kAttentionNorm, "input_layernorm"},
          {Slot::kQueriesKeysValues, "self_attention.query_key_value"},
          {Slot::kQkv, "self_attention.qkv"},
          {Slot::kHeads, "self_attention.heads"},
          {Slot::kAttention, "self_attention"},
          {Slot::kAttentionOut, "self_attention.dense"},
          {Slot::kDownNorm, "post_attention_layernorm"},
          {Slot::kUp, "mlp.dense_h_to_4h"},
          {Slot::kDown, "mlp.dense_4h_to_h"},
          {Slot::kFinalNorm, "ln_f"}};
}

Head tag_head() { return {fb::TaskKind::tag, "ForTokenClassification", Rows::kTokens, {{"classifier", Out::kLabels}}}; }

Head score_tag_head() {
  return {fb::TaskKind::tag, "ForTokenClassification", Rows::kTokens, {{"score", Out::kLabels}}};
}

Head answer_head() {
  return {fb::TaskKind::answer, "ForQuestionAnswering", Rows::kTokens, {{"qa_outputs", Out::kTwo}}};
}

Head pooled_classify_head() {
  return {fb::TaskKind::classify, "ForSequenceClassification", Rows::kPooler, {{"classifier", Out::kLabels}}};
}

Head pooled_choose_head() {
  return {fb::TaskKind::choose, "ForMultipleChoice", Rows::kPooler, {{"classifier", Out::kOne}}};
}

Head first_classify_head(Activation activation) {
  return {fb::TaskKind::classify,
          "ForSequenceClassification",
          Rows::kFirst,
          {{"classifier.dense", Out::kHidden, activation}, {"classifier.out_proj", Out::kLabels}}};
}

Head lm_head(const char* norm) {
  return {fb::TaskKind::fill,
          "ForMaskedLM",
          Rows::kTokens,
          {{"lm_head.dense", Out::kHidden, Activation::kGelu, norm},
           {"lm_head.decoder", Out::kVocabulary, Activation::kNone, nullptr, "lm_head.bias"}}};
}

std::vector<Head> cls_heads() {
  return {
      {fb::TaskKind::fill,
       "ForMaskedLM",
       Rows::kTokens,
       // Most files hold one bias under one or both names; if the two differ, the decoder's own is used.
       {{"cls.predictions.transform.dense", Out::kHidden, Activation::kOfModel, "cls.predictions.transform.LayerNorm"},
        {"cls.predictions.decoder", Out::kVocabulary, Activation::kNone, nullptr, "cls.predictions.bias"}}},
      {fb::TaskKind::next_sentence,
       "ForNextSentencePrediction",
       Rows::kPooler,
       {{"cls.seq_relationship", Out::kTwo}},
       {kNextSentenceLabels.begin(), kNextSentenceLabels.end()},
       "seq_relationship_logits"},
      {fb::TaskKind::pretraining, "ForPreTraining"}};
}

std::vector<Head> with_language_model(std::vector<Head> heads, const char* architecture) {
  for (size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].task != fb::TaskKind::fill) continue;
    Head same = heads[i];
    same.architecture = architecture;
    heads.push_back(std::move(same));
    break;
  }
  return heads;
}

std::vector<Head> common_heads() {
  return {{fb::TaskKind::none, "Model"},
          {fb::TaskKind::embed, nullptr},  // modules.json of sentence-transformers states it
          {fb::TaskKind::joint, nullptr},
          // colbert-ir's layout; others store their modules separately.
          {fb::TaskKind::token_vectors, nullptr, Rows::kTokens, {{"linear", Out::kVector}}},
          {fb::TaskKind::find, nullptr}};  // gliner_config.json states it
}

std::vector<Head> pooler_heads() {
  return joined(common_heads(), {pooled_classify_head(), tag_head(), answer_head(), pooled_choose_head()});
}

std::vector<Head> decoder_heads(const char* generates, bool biased) {
  HeadLayer words{"lm_head", Out::kVocabulary}, scores{"score", Out::kLabels};
  words.bare = !biased;
  scores.bare = true;
  return {{fb::TaskKind::none, "Model"},
          {fb::TaskKind::embed, nullptr},
          {fb::TaskKind::generate, generates, Rows::kTokens, {words}},
          {fb::TaskKind::classify, "ForSequenceClassification", Rows::kLast, {scores}}};
}

Head source_classify_head() {
  return {
      fb::TaskKind::classify,
      "ForSequenceClassification",
      Rows::kLast,
      {{"classification_head.dense", Out::kHidden, Activation::kTanh}, {"classification_head.out_proj", Out::kLabels}}};
}

Family above_words(const char* model_type, const char* architecture) {
  Family family;
  family.model_types = {model_type};
  family.base = model_type;
  family.architectures = {architecture};
  Settings& settings = family.settings;
  settings.positions = {"max_length", 512};
  settings.segments = {nullptr, 0};
  settings.hidden.key = "embedding_size";
  settings.layers = {nullptr, 0};
  settings.heads = {nullptr, 1};
  settings.intermediate = {nullptr, 1};
  settings.epsilon = nullptr;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embedding.weight"}};
  family.heads = {{fb::TaskKind::classify, "ForSequenceClassification", Rows::kState, {{"classifier", Out::kLabels}}},
                  tag_head(),
                  {fb::TaskKind::none, "Model"},
                  {fb::TaskKind::joint, nullptr}};
  return family;
}

void add_experts(Family& family, const char* router, const char* up, const char* gate, const char* down,
                 const char* experts) {
  family.roles.insert({{Slot::kRouter, router},
                       {Slot::kExpertUp, up},
                       {Slot::kExpertGate, gate},
                       {Slot::kExpertDown, down},
                       {Slot::kExperts, experts}});
}

void add_shared_experts(Family& family, const char* up, const char* gate, const char* down) {
  family.roles.insert({{Slot::kSharedUp, up}, {Slot::kSharedGate, gate}, {Slot::kSharedDown, down}});
}

Family without_dense_layers(Family family) {
  for (const Slot slot : {Slot::kUp, Slot::kGate, Slot::kDown}) family.roles.erase(slot);
  return family;
}

std::vector<Head> joined(std::vector<Head> a, std::vector<Head> b) {
  std::move(b.begin(), b.end(), std::back_inserter(a));
  return a;
}

}  // namespace bantam::convert
