// Llama 4 (Meta 2025), the model of texts: Llama's layers with experts, whose inputs their shares multiply. Some layers
// have no rotary positions; queries and keys of the others are normed.
#include <algorithm>

#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// Limits texts to one chunk of attention, and to the tokens whose queries have the factor 1.
void settle_chunk(const Fields& config, EncoderConfig& out) {
  constexpr const char *kKinds = "layer_types", *kChunk = "attention_chunk_size";
  constexpr uint32_t kUsualChunk = 8192;
  const Json kinds = config.has(kKinds) ? config.raw(kKinds) : Json::array();
  for (const Json& kind : kinds.is_array() ? kinds : Json::array()) {
    if (kind == "chunked_attention" || kind == "full_attention") continue;
    config.problem(ExitCode::kUnsupported, kKinds, "only chunked_attention and full_attention are supported");
  }
  const bool chunks = config.has(kChunk) || !config.stands(kChunk);
  if (chunks) out.positions = std::min(out.positions, config.count(kChunk, kMaxPositions, kUsualChunk));
  if (config.flag("attn_temperature_tuning", true)) {
    const uint32_t scaled = config.count("floor_scale", kMaxPositions, kUsualChunk);
    out.positions = std::min(out.positions, std::max(scaled, 2U) - 1);
  }
}

}  // namespace

Family llama4_text() {
  Family family = llama_like("llama4_text", "Llama4");
  add_experts(family, "feed_forward.router", "feed_forward.experts.gate_up_proj^", "feed_forward.experts.gate_up_proj^",
              "feed_forward.experts.down_proj^", "feed_forward.experts");
  add_shared_experts(family, "feed_forward.shared_expert.gate_proj", "feed_forward.shared_expert.up_proj",
                     "feed_forward.shared_expert.down_proj");
  family.roles[Slot::kUp] = "feed_forward.gate_proj";
  family.roles[Slot::kGate] = "feed_forward.up_proj";
  family.roles[Slot::kDown] = "feed_forward.down_proj";
  family.roles[Slot::kQueryNorm] = "self_attn.q_norm";
  family.roles[Slot::kKeyNorm] = "self_attn.k_norm";
  family.block.neighbours = family.block.head_norms = family.block.norms_behind = family.block.plain_head_norms = true;
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 202048;
  settings.positions.otherwise = 131072;
  settings.hidden.otherwise = 5120;
  settings.layers.otherwise = 48;
  settings.heads.otherwise = 40;
  settings.kv_heads.otherwise = 8;
  settings.head_width_otherwise = 128;
  settings.intermediate = {"intermediate_size_mlp", 16384};
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 500000;
  settings.turned_layers = "no_rope_layers";
  settings.unturned_every = {"no_rope_layer_interval", 4};
  settings.experts = {"num_local_experts", 16};
  settings.experts_of_token = {"num_experts_per_tok", 1};
  settings.expert_columns = {"intermediate_size", 8192};
  settings.shares = fb::ShareKind::sigmoid;
  settings.scales_inputs = true;
  settings.head_norms = {"use_qk_norm", true};
  settings.layers_of_experts = Settings::ExpertLayers::kNumbered;
  settings.settle = settle_chunk;
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
