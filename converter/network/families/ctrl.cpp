// CTRL (arXiv 1909.05858): a decoder with norms first, scaled embeddings and sinusoids.
#include "network/families/blocks.h"

namespace bantam::convert {

Family ctrl() {
  Family family;
  family.model_types = {"ctrl"};
  family.base = "transformer";
  family.architectures = {"CTRL"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 246534;
  settings.positions = {"n_positions", 256};
  settings.segments = {nullptr, 0};
  settings.hidden = {"n_embd", 1280};
  settings.layers = {"n_layer", 48};
  settings.heads = {"n_head", 16};
  settings.intermediate = {"dff", 8192};
  settings.activation = nullptr;
  settings.activation_otherwise = "relu";
  // transformers uses this epsilon whatever the settings say.
  settings.epsilon = nullptr;
  settings.epsilon_otherwise = 1e-6;
  settings.required = {{"layer_norm_epsilon", "1e-6"}};
  settings.scaled_embeddings = true;
  settings.sinusoids = Settings::Sinusoids::kHalves;
  family.layer = "h.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.roles = {{Slot::kWords, "w.weight"},
                  {Slot::kPositions, "pos_encoding.weight"},
                  {Slot::kAttentionNorm, "layernorm1"},
                  {Slot::kQuery, "multi_head_attention.Wq"},
                  {Slot::kKey, "multi_head_attention.Wk"},
                  {Slot::kValue, "multi_head_attention.Wv"},
                  {Slot::kQkv, "multi_head_attention.qkv"},
                  {Slot::kHeads, "multi_head_attention.heads"},
                  {Slot::kAttention, "multi_head_attention"},
                  {Slot::kAttentionOut, "multi_head_attention.dense"},
                  {Slot::kDownNorm, "layernorm2"},
                  {Slot::kUp, "ffn.0"},
                  {Slot::kDown, "ffn.2"},
                  {Slot::kFinalNorm, "layernorm"}};
  HeadLayer labels{"classifier", Out::kLabels};
  labels.bare = true;
  family.heads = {{fb::TaskKind::none, "Model"},
                  {fb::TaskKind::embed, nullptr},
                  {fb::TaskKind::generate, "LMHeadModel", Rows::kTokens, {{"lm_head", Out::kVocabulary}}},
                  {fb::TaskKind::classify, "ForSequenceClassification", Rows::kLast, {labels}}};
  return family;
}

}  // namespace bantam::convert
