// LFM2 (arXiv 2511.23404): Llama's layers with norms of each head; most have a short gated convolution instead of
// attention.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostColumns = 1U << 16, kMostTaps = 64;

/// Reads the layers that have attention, from "layer_types" or else from "full_attn_idxs"; without both all have it.
void read_kinds(const Fields& config, EncoderConfig& out) {
  constexpr const char* kKinds = "layer_types";
  constexpr const char* kNumbers = "full_attn_idxs";
  out.attends.assign(out.layers, true);
  const bool numbered = config.has(kNumbers);
  if (config.has(kKinds)) {
    const Json& kinds = config.raw(kKinds);
    bool known = kinds.is_array() && kinds.size() == out.layers;
    for (size_t i = 0; known && i < kinds.size(); ++i) {
      known = kinds[i] == "full_attention" || kinds[i] == "conv";
      out.attends[i] = kinds[i] == "full_attention";
    }
    if (!known) {
      config.problem(ExitCode::kInvalid, kKinds,
                     "is not a list of \"full_attention\" and \"conv\", one for each layer");
    }
    return;
  }
  if (!numbered) return;
  const Json& numbers = config.raw(kNumbers);
  out.attends.assign(out.layers, false);
  for (const Json& number : numbers.is_array() ? numbers : Json::array({-1})) {
    if (!number.is_number_unsigned() || number.get<uint64_t>() >= out.layers) {
      config.problem(ExitCode::kInvalid, kNumbers, "is not a list of numbers of layers");
      return;
    }
    out.attends[number.get<size_t>()] = true;
  }
}

void settle_convolutions(const Fields& config, EncoderConfig& out) {
  read_kinds(config, out);
  out.short_taps = config.count("conv_L_cache", kMostTaps, 3);
}

/// transformers makes feed-forward layers narrower than the configuration says.
void settle_lfm2(const Fields& config, EncoderConfig& out) {
  settle_convolutions(config, out);
  if (config.has("block_ff_dim")) out.intermediate = config.count("block_ff_dim", kMostColumns);
  if (!config.flag("block_auto_adjust_ff_dim", true)) return;
  out.intermediate = 2 * out.intermediate / 3;
  constexpr const char* kFactor = "block_ffn_dim_multiplier";
  if (config.stands(kFactor) && !config.has(kFactor)) return;
  const double columns = config.number(kFactor, 1) * out.intermediate;
  const uint32_t multiple = config.count("block_multiple_of", kMostColumns, 256);
  if (!(columns >= 1 && columns <= kMostColumns)) {
    config.problem(ExitCode::kInvalid, kFactor, "leaves no feed-forward columns, or more than 65536");
    return;
  }
  out.intermediate = (static_cast<uint32_t>(columns) + multiple - 1) / multiple * multiple;
}

}  // namespace

Family lfm2() {
  Family family = llama_like("lfm2", "Lfm2");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 65536;
  settings.positions.otherwise = 128000;
  settings.hidden.otherwise = 2560;
  settings.kv_heads.otherwise = 8;
  settings.intermediate.otherwise = 12288;
  settings.activation = nullptr;
  settings.epsilon = "norm_eps";
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 1000000;
  settings.untied = false;
  settings.synonyms = {{"tie_embedding", "tie_word_embeddings"}};
  settings.settle = settle_lfm2;
  family.block.head_norms = true;
  family.roles[Slot::kAttentionNorm] = "operator_norm";
  family.roles[Slot::kQueryNorm] = "self_attn.q_layernorm";
  family.roles[Slot::kKeyNorm] = "self_attn.k_layernorm";
  family.roles[Slot::kAttentionOut] = "self_attn.out_proj";
  family.roles[Slot::kShortGate] = "conv.in_proj[0/3]";
  family.roles[Slot::kShortOutGate] = "conv.in_proj[1/3]";
  family.roles[Slot::kShortInput] = "conv.in_proj[2/3]";
  family.roles[Slot::kShortTaps] = "conv.conv";
  family.roles[Slot::kShortOut] = "conv.out_proj";
  family.roles[Slot::kDownNorm] = "ffn_norm";
  family.roles[Slot::kUp] = "feed_forward.w1";
  family.roles[Slot::kGate] = "feed_forward.w3";
  family.roles[Slot::kDown] = "feed_forward.w2";
  family.roles[Slot::kFinalNorm] = "embedding_norm";
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family lfm2_moe() {
  Family family = lfm2();
  family.model_types = {"lfm2_moe"};
  family.architectures = {"Lfm2Moe"};
  add_experts(family, "feed_forward.gate", "feed_forward.experts.{}.w1", "feed_forward.experts.{}.w3",
              "feed_forward.experts.{}.w2", "feed_forward.experts");
  family.roles[Slot::kChoiceBias] = "feed_forward.expert_bias";
  Settings& settings = family.settings;
  settings.hidden.otherwise = 2048;
  settings.intermediate.otherwise = 7168;
  settings.settle = settle_convolutions;
  settings.experts = {"num_experts", 32};
  settings.experts_of_token = {"num_experts_per_tok", 4};
  settings.expert_columns = {"moe_intermediate_size", 1792};
  settings.shares = fb::ShareKind::sigmoid;
  settings.shares_of_one = {"norm_topk_prob", true};
  settings.expert_factor = "routed_scaling_factor";
  settings.layers_of_experts = Settings::ExpertLayers::kBehind;
  settings.expert_layers = {"num_dense_layers", 2};
  settings.required.emplace_back("use_expert_bias", "true");
  return family;
}

}  // namespace bantam::convert
