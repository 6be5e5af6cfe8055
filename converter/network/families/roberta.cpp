// RoBERTa (arXiv 1907.11692), and XLM-RoBERTa and CamemBERT, which are RoBERTa with other vocabularies: BERT whose
// positions begin after the padding token's row, with heads of their own. Data2Vec (arXiv 2202.03555) and I-BERT (arXiv
// 2101.01321), which trains the same graph for integers: RoBERTa with other names. RoBERTa with norms first, in two
// forms (fairseq; XLM-RoBERTa XL, arXiv 2105.00572). Jina Embeddings 3 (arXiv 2409.10173): RoBERTa with rotary
// positions.
#include "network/families/blocks.h"

namespace bantam::convert {
namespace {

std::vector<Head> roberta_heads() {
  return joined(common_heads(),
                {first_classify_head(Activation::kTanh), tag_head(), answer_head(), pooled_choose_head(), lm_head()});
}

/// RoBERTa without vectors of distances, which similar models lack.
Family without_distances() {
  Family family;
  family.model_types = {"roberta", "xlm-roberta", "camembert"};
  family.base = "roberta";
  family.architectures = {"Roberta", "XLMRoberta", "Camembert"};
  family.settings.vocabulary.otherwise = 50265;
  family.settings.padding = {"pad_token_id", 1};
  family.settings.lone_segment = true;
  family.roles = bert_roles();
  family.heads = with_language_model(roberta_heads(), "ForCausalLM");
  return family;
}

}  // namespace

Family roberta() {
  Family family = without_distances();
  family.roles[Slot::kDistanceKeys] = kDistanceEmbedding;
  return family;
}

Family data2vec_text() {
  Family family = without_distances();
  family.model_types = {"data2vec-text"};
  family.base = "data2vec_text";
  family.architectures = {"Data2VecText"};
  family.settings.vocabulary.otherwise = 30522;
  return family;
}

Family ibert() {
  Family family = without_distances();
  family.model_types = {"ibert"};
  family.base = "ibert";
  family.architectures = {"IBert"};
  family.settings.vocabulary.otherwise = 30522;
  family.settings.required = {{"quant_mode", "false"}, {"hidden_act", "\"gelu\""}};
  for (const char* part : {"act_scaling_factor", "fc_scaling_factor", "weight_scaling_factor", "weight_integer",
                           "bias_integer", ".x_min", ".x_max", "LayerNorm.shift"}) {
    family.unused.emplace_back(part, "of the computation in integers, which quant_mode turns off");
  }
  family.heads = roberta_heads();  // there is no class for language models
  return family;
}

Family roberta_prelayernorm() {
  Family family = without_distances();
  family.model_types = {"roberta-prelayernorm"};
  family.base = "roberta_prelayernorm";
  family.architectures = {"RobertaPreLayerNorm"};
  family.block.norm_first = family.block.norm_before_all = true;
  family.roles[Slot::kAttentionNorm] = "attention.LayerNorm";
  family.roles[Slot::kDownNorm] = "intermediate.LayerNorm";
  family.roles[Slot::kFinalNorm] = "LayerNorm";
  return family;
}

Family xlm_roberta_xl() {
  Family family = without_distances();
  family.model_types = {"xlm-roberta-xl"};
  family.architectures = {"XLMRobertaXL"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 250880;
  settings.positions.otherwise = 514;
  settings.segments.otherwise = 1;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 36;
  settings.heads.otherwise = 32;
  settings.intermediate.otherwise = 10240;
  settings.epsilon_otherwise = 1e-5;
  family.block.norm_first = family.block.norm_before_all = true;
  family.roles.erase(Slot::kEmbeddingNorm);
  family.roles[Slot::kAttentionNorm] = "attention.self_attn_layer_norm";
  family.roles[Slot::kDownNorm] = "LayerNorm";
  family.roles[Slot::kFinalNorm] = "encoder.LayerNorm";
  return family;
}

Family jina_embeddings_v3() {
  Family family = without_distances();
  family.model_types = {"jina_embeddings_v3"};
  family.architectures = {"JinaEmbeddingsV3"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 250002;
  settings.positions.otherwise = 8194;
  settings.padding = {};
  settings.segments.otherwise = 1;
  settings.hidden.otherwise = 1024;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 16;
  settings.intermediate.otherwise = 4096;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary = {20000, "rope_theta"};
  family.layer = "encoder.layers.{}";
  family.roles = {{Slot::kWords, "embeddings.word_embeddings.weight"},
                  {Slot::kSegments, "embeddings.token_type_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "emb_ln"},
                  {Slot::kPooler, "pooler.dense"},
                  {Slot::kQuery, "mixer.Wqkv[0/3]"},
                  {Slot::kKey, "mixer.Wqkv[1/3]"},
                  {Slot::kValue, "mixer.Wqkv[2/3]"},
                  {Slot::kQkv, "mixer.Wqkv"},
                  {Slot::kHeads, "mixer.heads"},
                  {Slot::kAttention, "mixer"},
                  {Slot::kAttentionOut, "mixer.out_proj"},
                  {Slot::kAttentionNorm, "norm1"},
                  {Slot::kUp, "mlp.fc1"},
                  {Slot::kDown, "mlp.fc2"},
                  {Slot::kDownNorm, "norm2"}};
  family.heads = joined(common_heads(), {first_classify_head(Activation::kTanh), tag_head(), answer_head(), lm_head()});
  return family;
}

}  // namespace bantam::convert
