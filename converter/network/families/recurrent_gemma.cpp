// RecurrentGemma (arXiv 2404.07839, 2402.19427): Gemma's layers, of which two in three have a short convolution and a
// gated recurrence instead of attention, and the others a window.
#include <cmath>
#include <cstring>

#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostGriffinTaps = 64;

/// Reads the kinds that repeat from layer to layer.
void read_block_types(const Fields& config, EncoderConfig& out) {
  constexpr const char* kKinds = "block_types";
  const Json kinds = config.has(kKinds) ? config.raw(kKinds) : Json({"recurrent", "recurrent", "attention"});
  bool known = kinds.is_array() && !kinds.empty();
  for (size_t i = 0; known && i < kinds.size(); ++i) known = kinds[i] == "recurrent" || kinds[i] == "attention";
  if (!known) config.problem(ExitCode::kInvalid, kKinds, "is not a list of \"recurrent\" and \"attention\"");
  for (uint32_t i = 0; i < out.layers; ++i) out.attends.push_back(!known || kinds[i % kinds.size()] == "attention");
}

/// The number with the highest 16 bits of its float, rounded to nearest even: transformers stores the factor of
/// embeddings so.
float in_bf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = (bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

void settle_recurrent_gemma(const Fields& config, EncoderConfig& out) {
  read_block_types(config, out);
  out.short_taps = config.count("conv1d_width", kMostGriffinTaps, 4);
  out.embedding_factor = in_bf16(out.embedding_factor);
  out.intermediate /= 2;
  if (out.intermediate == 0) config.problem(ExitCode::kInvalid, "intermediate_size", "is less than 2");
  constexpr const char* kWidth = "lru_width";
  if (config.has(kWidth) && config.raw(kWidth) != out.hidden) {
    config.problem(ExitCode::kUnsupported, kWidth, "another width than hidden_size is not supported");
  }
  if (out.hidden % out.heads != 0)
    config.problem(ExitCode::kInvalid, "num_attention_heads", "do not divide the columns");
}

}  // namespace

Family recurrent_gemma() {
  Family family = llama_like("recurrent_gemma", "RecurrentGemma");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 256000;
  settings.positions.otherwise = 8192;
  settings.hidden.otherwise = 2560;
  settings.layers.otherwise = 26;
  settings.heads.otherwise = 10;
  settings.kv_heads.otherwise = 0;
  settings.head_width = nullptr;
  settings.intermediate.otherwise = 7680;
  settings.activation = "hidden_activation";
  settings.activation_otherwise = "gelu_pytorch_tanh";
  settings.scaled_embeddings = true;
  settings.untied = false;
  settings.rotary.part = 0.5;
  settings.window = {"attention_window_size", 2048};
  settings.windows = Settings::Windows::kEvery;
  settings.full_every = {nullptr, kMaxPositions};
  settings.settle = settle_recurrent_gemma;
  family.block.gammas_less_one = true;
  family.roles = {{Slot::kWords, "embed_tokens.weight"},
                  {Slot::kAttentionNorm, "temporal_pre_norm"},
                  {Slot::kQuery, "temporal_block.q_proj"},
                  {Slot::kKey, "temporal_block.k_proj"},
                  {Slot::kValue, "temporal_block.v_proj"},
                  {Slot::kQkv, "temporal_block.qkv"},
                  {Slot::kHeads, "temporal_block.heads"},
                  {Slot::kAttention, "temporal_block"},
                  {Slot::kAttentionOut, "temporal_block.o_proj"},
                  {Slot::kShortInput, "temporal_block.linear_x"},
                  {Slot::kShortOutGate, "temporal_block.linear_y"},
                  {Slot::kShortTaps, "temporal_block.conv_1d"},
                  {Slot::kShortOut, "temporal_block.linear_out"},
                  {Slot::kStateRates, "temporal_block.rg_lru.recurrent_param"},
                  {Slot::kInputGate, "temporal_block.rg_lru.input_gate"},
                  {Slot::kRateGate, "temporal_block.rg_lru.recurrent_gate"},
                  {Slot::kDownNorm, "channel_pre_norm"},
                  {Slot::kUp, "mlp_block.gate_proj"},
                  {Slot::kGate, "mlp_block.up_proj"},
                  {Slot::kDown, "mlp_block.down_proj"},
                  {Slot::kFinalNorm, "final_norm"}};
  family.heads = decoder_heads("ForCausalLM");
  for (Head& head : family.heads) {
    if (head.task != fb::TaskKind::generate) continue;
    head.layers.back().cap = "logits_soft_cap";
    head.layers.back().cap_otherwise = 30;
  }
  return family;
}

}  // namespace bantam::convert
