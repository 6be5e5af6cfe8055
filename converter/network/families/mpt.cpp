// MPT (MosaicML 2023): a decoder without biases whose scores fall with the distance (ALiBi).
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {

namespace {

/// Attention has its own object of settings; its defaults convert.
void settle_mpt(const Fields& config, EncoderConfig&) {
  constexpr const char* kAttention = "attn_config";
  if (!config.has(kAttention) || !config.raw(kAttention).is_object()) return;
  require(config.inside(kAttention), {{"alibi", "true"},
                                      {"alibi_bias_max", "8"},
                                      {"attn_type", "\"multihead_attention\""},
                                      {"clip_qkv", "null"},
                                      {"prefix_lm", "false"},
                                      {"qk_ln", "false"},
                                      {"softmax_scale", "null"}});
}

}  // namespace

Family mpt() {
  Family family;
  family.model_types = {"mpt"};
  family.base = "transformer";
  family.architectures = {"Mpt", "MPT"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50368;
  settings.positions = {"max_seq_len", 2048};
  settings.any_length = true;
  settings.segments = {nullptr, 0};
  settings.hidden = {"d_model", 2048};
  settings.layers = {"n_layers", 24};
  settings.heads = {"n_heads", 16};
  settings.intermediate = {nullptr, 0};
  settings.widening = 4;
  settings.activation = nullptr;
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.slopes = true;
  settings.settle = settle_mpt;
  settings.required = {{"expansion_ratio", "4"}, {"logit_scale", "null"}};
  family.layer = "blocks.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.optional_biases = true;
  family.roles = {
      {Slot::kWords, "wte.weight"},   {Slot::kAttentionNorm, "norm_1"}, {Slot::kQuery, "attn.Wqkv[0/3]"},
      {Slot::kKey, "attn.Wqkv[1/3]"}, {Slot::kValue, "attn.Wqkv[2/3]"}, {Slot::kQkv, "attn.Wqkv"},
      {Slot::kHeads, "attn.heads"},   {Slot::kAttention, "attn"},       {Slot::kAttentionOut, "attn.out_proj"},
      {Slot::kDownNorm, "norm_2"},    {Slot::kUp, "ffn.up_proj"},       {Slot::kDown, "ffn.down_proj"},
      {Slot::kFinalNorm, "norm_f"}};
  family.heads = joined(decoder_heads("ForCausalLM"), {tag_head(), answer_head()});
  return family;
}

}  // namespace bantam::convert
