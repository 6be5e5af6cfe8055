// Apertus (arXiv 2509.14233) and the model of texts in Apertus 1.5: Llama's layers with norms of heads and ungated
// feed-forward layers, which xIELU activates.
#include "network/families/blocks.h"

namespace bantam::convert {

Family apertus() {
  Family family = llama_like("apertus", "Apertus");
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 131072;
  settings.positions.otherwise = 65536;
  settings.intermediate.otherwise = 14336;
  settings.epsilon_otherwise = 1e-5;
  settings.rotary.otherwise = 12000000;
  settings.rotary.parameters_otherwise =
      R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
          "original_max_position_embeddings": 8192})";
  settings.activation = nullptr;
  settings.activation_otherwise = "linear";
  settings.required.emplace_back("hidden_act", "\"xielu\"");
  family.block.head_norms = true;
  family.roles.erase(Slot::kGate);
  family.roles[Slot::kUp] = "mlp.up_proj";
  family.roles[Slot::kAttentionNorm] = "attention_layernorm";
  family.roles[Slot::kDownNorm] = "feedforward_layernorm";
  family.roles[Slot::kQueryNorm] = "self_attn.q_norm";
  family.roles[Slot::kKeyNorm] = "self_attn.k_norm";
  family.roles[Slot::kCurveAbove] = "mlp.act_fn.alpha_p";
  family.roles[Slot::kCurveBelow] = "mlp.act_fn.alpha_n";
  family.roles[Slot::kCurveSlope] = "mlp.act_fn.beta";
  family.unused.emplace_back("mlp.act_fn.eps", "a bound next to 0, where both of xIELU's curves meet");
  family.heads = joined(decoder_heads("ForCausalLM"), {score_tag_head()});
  for (Head& head : family.heads) {
    if (head.task == fb::TaskKind::classify) head.architecture = nullptr;
  }
  return family;
}

Family apertus1p5_text() {
  Family family = apertus();
  family.model_types = {"apertus1p5_text"};
  family.architectures = {"Apertus1p5Text"};
  family.settings.vocabulary.otherwise = 266752;
  family.settings.required.emplace_back("output_vocab_size", "null");
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace bantam::convert
