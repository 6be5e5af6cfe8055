// Reformer (arXiv 2001.04451): layers of two streams of rows; tokens see a chunk of neighboring tokens of the text, or
// of tokens with similar hashes of queries.
#include <utility>

#include "network/families/blocks.h"

namespace bantam::convert {

Family reformer() {
  Family family;
  family.model_types = {"reformer"};
  family.base = "reformer";
  family.architectures = {"Reformer"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 320;
  settings.positions.otherwise = 4096;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 256;
  settings.layers = {nullptr, 1};  // "attn_layers" defines them
  settings.intermediate = {"feed_forward_size", 512};
  settings.head_width = "attention_head_size";
  settings.head_width_otherwise = 64;
  settings.activation_otherwise = "relu";
  settings.untied = true;
  family.layer = "encoder.layers.{}";
  family.block.norm_first = family.block.norm_before_all = true;
  family.block.causal = family.block.optional_biases = family.block.reversible = true;
  family.roles = {{Slot::kWords, "embeddings.word_embeddings.weight"},
                  {Slot::kPositions, "embeddings.position_embeddings.embedding.weight"},
                  {Slot::kFirstAxis, "embeddings.position_embeddings.weights.0"},
                  {Slot::kSecondAxis, "embeddings.position_embeddings.weights.1"},
                  {Slot::kAttentionNorm, "attention.layer_norm"},
                  {Slot::kQuery, "attention.self_attention.query"},
                  {Slot::kKey, "attention.self_attention.key"},
                  {Slot::kQueryKey, "attention.self_attention.query_key"},
                  {Slot::kValue, "attention.self_attention.value"},
                  {Slot::kAttentionOut, "attention.output.dense"},
                  {Slot::kDownNorm, "feed_forward.layer_norm"},
                  {Slot::kUp, "feed_forward.dense.dense"},
                  {Slot::kDown, "feed_forward.output.dense"},
                  {Slot::kFinalNorm, "encoder.layer_norm"},
                  {Slot::kQkv, "attention.self_attention.qkv"},
                  {Slot::kAttention, "attention.self_attention"}};
  const HeadLayer words{"lm_head.decoder", Out::kVocabulary, Activation::kNone, nullptr, "lm_head.bias"};
  family.heads = {{fb::TaskKind::none, "Model"},
                  {fb::TaskKind::embed, nullptr},
                  {fb::TaskKind::generate, "ModelWithLMHead", Rows::kTokens, {words}},
                  {fb::TaskKind::fill, "ForMaskedLM", Rows::kTokens, {words}},
                  first_classify_head(Activation::kTanh),
                  answer_head()};
  family.unused = {{"mask_value_float", "what hides keys is not a weight"}};
  return family;
}

}  // namespace bantam::convert
