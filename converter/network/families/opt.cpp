// OPT (arXiv 2205.01068): a decoder with norms first, and positions that begin with row 2 of their table; words may be
// narrower than layers. OPT with 350M parameters: norms last. XGLM (arXiv 2112.10668): OPT with scaled
// embeddings and sinusoids. BioGPT (arXiv 2210.10341): OPT with scaled embeddings.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kRowsInFront = 2;

/// transformers sets the row `pad_token_id` of the sinusoids to zeros.
void settle_padding(const Fields& config, EncoderConfig&) {
  constexpr const char* kPadding = "pad_token_id";
  if (config.number(kPadding, 1) < kRowsInFront) return;
  config.problem(ExitCode::kUnsupported, kPadding, "only 0 and 1 are supported: others leave a token without a place");
}

/// `family` with words as wide as its layers.
Family without_projections(Family family) {
  family.settings.embedding = {};
  family.block.words_projected = false;
  for (const Slot slot : {Slot::kEmbeddingProjection, Slot::kLastProjection}) family.roles.erase(slot);
  return family;
}

}  // namespace

Family opt() {
  Family family;
  family.model_types = {"opt"};
  family.base = "decoder";
  family.other_bases = {"model.decoder"};
  family.architectures = {"OPT"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50272;
  settings.positions.otherwise = 2048;
  settings.positions_in_front = kRowsInFront;
  settings.segments = {nullptr, 0};
  settings.intermediate = {"ffn_dim", 3072};
  settings.embedding.key = "word_embed_proj_dim";
  settings.activation = "activation_function";
  settings.activation_otherwise = "relu";
  settings.epsilon = nullptr;
  settings.epsilon_otherwise = 1e-5;
  settings.required = {{"do_layer_norm_before", "true"},
                       {"_remove_final_layer_norm", "false"},
                       {"layer_norm_elementwise_affine", "true"}};
  family.layer = "layers.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.block.optional_biases = family.block.words_projected = true;
  family.roles = {{Slot::kWords, "embed_tokens.weight"},
                  {Slot::kPositions, "embed_positions.weight"},
                  {Slot::kEmbeddingProjection, "project_in"},
                  {Slot::kLastProjection, "project_out"},
                  {Slot::kAttentionNorm, "self_attn_layer_norm"},
                  {Slot::kQuery, "self_attn.q_proj"},
                  {Slot::kKey, "self_attn.k_proj"},
                  {Slot::kValue, "self_attn.v_proj"},
                  {Slot::kQkv, "self_attn.qkv"},
                  {Slot::kHeads, "self_attn.heads"},
                  {Slot::kAttention, "self_attn"},
                  {Slot::kAttentionOut, "self_attn.out_proj"},
                  {Slot::kDownNorm, "final_layer_norm"},
                  {Slot::kUp, "fc1"},
                  {Slot::kDown, "fc2"},
                  {Slot::kFinalNorm, "final_layer_norm"}};
  family.heads = joined(decoder_heads("ForCausalLM"), {answer_head()});
  return family;
}

Family opt_350m() {
  Family family = opt();
  family.model_types = {"opt_350m"};
  family.published = {"opt", "do_layer_norm_before", "false", ".fc1."};
  family.settings.required = {{"layer_norm_elementwise_affine", "true"}};
  family.block.norm_first = family.block.norm_before_all = false;
  family.roles.erase(Slot::kFinalNorm);
  return family;
}

Family xglm() {
  Family family = without_projections(opt());
  family.model_types = {"xglm"};
  family.base = "model";
  family.other_bases = {};
  family.architectures = {"XGLM"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 256008;
  settings.hidden = {"d_model", 1024};
  settings.layers = {"num_layers", 24};
  settings.heads = {"attention_heads", 16};
  settings.intermediate.otherwise = 4096;
  settings.activation_otherwise = "gelu";
  settings.scaled_if = {"scale_embedding", true};
  settings.sinusoids = Settings::Sinusoids::kSteps;
  settings.settle = settle_padding;
  settings.required = {};
  family.roles[Slot::kFinalNorm] = "layer_norm";
  family.unused = {{"embed_positions.weights", "the settings say the sinusoids"}};
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

Family biogpt() {
  Family family = without_projections(opt());
  family.model_types = {"biogpt"};
  family.base = "biogpt";
  family.other_bases = {};
  family.architectures = {"BioGpt"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 42384;
  settings.positions.otherwise = 1024;
  settings.hidden.otherwise = 1024;
  settings.layers.otherwise = 24;
  settings.heads.otherwise = 16;
  settings.intermediate = {"intermediate_size", 4096};
  settings.activation = "hidden_act";
  settings.activation_otherwise = "gelu";
  settings.scaled_if = {"scale_embedding", true};
  settings.required = {};
  family.roles[Slot::kFinalNorm] = "layer_norm";
  family.renamed = {{"output_projection.", "lm_head."}};
  family.heads = joined(decoder_heads("ForCausalLM"), {tag_head()});
  return family;
}

}  // namespace bantam::convert
