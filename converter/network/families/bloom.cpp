// BLOOM (arXiv 2211.05100): a decoder whose scores fall with the distance (ALiBi), with a norm of embeddings, and with
// queries, keys and values in one matrix, head by head.
#include "network/families/blocks.h"

namespace bantam::convert {

Family bloom() {
  Family family;
  family.model_types = {"bloom"};
  family.base = "transformer";
  family.architectures = {"Bloom"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 250880;
  settings.positions = {"seq_length", 2048};
  settings.any_length = true;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 64;
  settings.layers = {"n_layer", 2};
  settings.heads = {"n_head", 8};
  settings.synonyms = {{"n_embed", "hidden_size"}, {"num_hidden_layers", "n_layer"}, {"num_attention_heads", "n_head"}};
  settings.intermediate = {nullptr, 0};
  settings.widening = 4;
  settings.activation = nullptr;
  settings.activation_otherwise = "gelu_new";
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  settings.slopes = true;
  settings.required = {{"apply_residual_connection_post_layernorm", "false"}};
  family.layer = "h.{}";
  family.block.norm_first = family.block.norm_before_all = family.block.causal = true;
  family.roles = falcon_roles();
  family.roles[Slot::kEmbeddingNorm] = "word_embeddings_layernorm";
  family.heads = joined(decoder_heads("ForCausalLM"), {tag_head(), answer_head()});
  return family;
}

}  // namespace bantam::convert
