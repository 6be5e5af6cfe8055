// ModernBERT (arXiv 2412.13663): norms first, gated feed-forward layers, rotary positions, and windows in all layers
// except every third. Its decoder: Ettin (arXiv 2507.11412).
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// Without a setting of its own, the window is half of another setting.
void settle_window(const Fields& config, EncoderConfig&) {
  if (!config.has("sliding_window")) require(config, {{"local_attention", "128"}});
}

}  // namespace

Family modernbert() {
  Family family;
  family.model_types = {"modernbert"};
  family.base = "model";
  family.architectures = {"ModernBert"};
  family.settings.vocabulary.otherwise = 50368;
  family.settings.positions.otherwise = 8192;
  family.settings.segments = {nullptr, 0};
  family.settings.layers.otherwise = 22;
  family.settings.intermediate.otherwise = 1152;
  family.settings.activation = "hidden_activation";
  family.settings.epsilon = "norm_eps";
  family.settings.epsilon_otherwise = 1e-5;
  family.layer = "layers.{}";
  family.block.norm_first = true;
  family.block.optional_biases = true;
  family.settings.rotary = {160000, "global_rope_theta"};
  family.settings.local_rotary = {10000, "local_rope_theta"};
  family.settings.window = {"local_attention", 128};
  family.settings.full_every = {"global_attn_every_n_layers", 3};
  family.settings.full_first = true;
  family.roles = {{Slot::kWords, "embeddings.tok_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "embeddings.norm"},
                  {Slot::kQuery, "attn.Wqkv[0/3]"},
                  {Slot::kKey, "attn.Wqkv[1/3]"},
                  {Slot::kValue, "attn.Wqkv[2/3]"},
                  {Slot::kQkv, "attn.Wqkv"},
                  {Slot::kHeads, "attn.heads"},
                  {Slot::kAttention, "attn"},
                  {Slot::kAttentionOut, "attn.Wo"},
                  {Slot::kAttentionNorm, "attn_norm"},
                  {Slot::kUp, "mlp.Wi[0/2]"},
                  {Slot::kGate, "mlp.Wi[1/2]"},
                  {Slot::kDown, "mlp.Wo"},
                  {Slot::kDownNorm, "mlp_norm"},
                  {Slot::kFinalNorm, "final_norm"}};
  const HeadLayer dense = {
      "head.dense", Out::kHidden, Activation::kOfSetting, "head.norm", nullptr, "classifier_activation", "gelu"};
  family.heads = joined(
      common_heads(),
      {{fb::TaskKind::classify, "ForSequenceClassification", Rows::kOfSetting, {dense, {"classifier", Out::kLabels}}},
       {fb::TaskKind::tag, "ForTokenClassification", Rows::kTokens, {dense, {"classifier", Out::kLabels}}},
       {fb::TaskKind::answer, "ForQuestionAnswering", Rows::kTokens, {dense, {"classifier", Out::kTwo}}},
       {fb::TaskKind::choose, "ForMultipleChoice", Rows::kOfSetting, {dense, {"classifier", Out::kOne}}},
       {fb::TaskKind::fill, "ForMaskedLM", Rows::kTokens, {dense, {"decoder", Out::kVocabulary}}}});
  return family;
}

Family modernbert_decoder() {
  Family family = modernbert();
  family.model_types = {"modernbert-decoder"};
  family.architectures = {"ModernBertDecoder"};
  Settings& settings = family.settings;
  settings.window = {"sliding_window", 64};
  settings.windows = Settings::Windows::kEvery;
  settings.settle = settle_window;
  family.block.causal = true;
  family.roles[Slot::kQuery] = "attn.q_proj";
  family.roles[Slot::kKey] = "attn.k_proj";
  family.roles[Slot::kValue] = "attn.v_proj";
  family.roles[Slot::kQkv] = "attn.qkv";
  const auto dense = [](const char* name, const char* norm) {
    return HeadLayer{name, Out::kHidden, Activation::kOfSetting, norm, nullptr, "classifier_activation", "gelu"};
  };
  family.heads = {{fb::TaskKind::none, "Model"},
                  {fb::TaskKind::embed, nullptr},
                  {fb::TaskKind::generate,
                   "ForCausalLM",
                   Rows::kTokens,
                   {dense("lm_head.dense", "lm_head.norm"), {"decoder", Out::kVocabulary}}},
                  {fb::TaskKind::classify,
                   "ForSequenceClassification",
                   Rows::kLast,
                   {dense("head.dense", "head.norm"), {"classifier", Out::kLabels}}}};
  return family;
}

}  // namespace bantam::convert
