// ConvBERT (arXiv 2008.02496): ELECTRA's encoder, half of whose heads are convolutions beside attention.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {

Family electra();

namespace {

/// As in transformers: more heads for convolutions than there are leave one for attention.
void settle_span(const Fields& config, EncoderConfig& out) {
  constexpr uint32_t kMostRatio = 1U << 16, kMostTaps = 255, kUsualTaps = 9;
  const uint32_t ratio = config.count("head_ratio", kMostRatio, 2);
  out.heads = out.kv_heads = ratio > out.heads ? 1 : out.heads / ratio;
  out.span_taps = config.count("conv_kernel_size", kMostTaps, kUsualTaps);
  if (out.span_taps % 2 == 0) {
    config.problem(ExitCode::kUnsupported, "conv_kernel_size", "convolutions are of an odd number of tokens");
  }
}

}  // namespace

Family convbert() {
  Family family = electra();
  family.model_types = {"convbert"};
  family.base = "convbert";
  family.architectures = {"ConvBert"};
  Settings& settings = family.settings;
  settings.hidden.otherwise = 768;
  settings.heads.otherwise = 12;
  settings.intermediate.otherwise = 3072;
  settings.embedding.otherwise = 768;
  settings.width_parts = 2;
  settings.required = {{"num_groups", "1"}};
  settings.settle = settle_span;
  family.roles.erase(Slot::kDistanceKeys);
  family.roles[Slot::kSpanDepthwise] = "attention.self.key_conv_attn_layer.depthwise";
  family.roles[Slot::kSpanPointwise] = "attention.self.key_conv_attn_layer.pointwise";
  family.roles[Slot::kSpanBias] = "attention.self.key_conv_attn_layer.bias";
  family.roles[Slot::kSpanScores] = "attention.self.conv_kernel_layer";
  family.roles[Slot::kSpanValues] = "attention.self.conv_out_layer";
  const Head fill = *family.head(fb::TaskKind::fill);
  family.heads = joined(common_heads(), {first_classify_head(Activation::kOfModel), tag_head(), answer_head(), fill});
  return family;
}

}  // namespace bantam::convert
