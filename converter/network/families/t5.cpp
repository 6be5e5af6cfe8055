// T5 (arXiv 1910.10683) and its successors with gated feed-forward layers (T5 1.1; mT5, arXiv 2010.11934): only
// relative positions, RMS norms, and unscaled scores. UMT5 (arXiv 2304.09151): each layer has its own biases of
// distances. LongT5 (arXiv 2112.07916): the encoder has windows. Switch (arXiv 2101.03961): T5 with expert layers.
#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

/// The settings that both stacks share.
Family t5_stack() {
  Family family;
  family.base = "t5";
  family.other_bases = {"transformer"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 32128;
  settings.positions = {"n_positions", 512};
  settings.any_length = true;
  settings.segments = {nullptr, 0};
  settings.hidden = {"d_model", 512};
  settings.layers = {"num_layers", 6};
  settings.heads = {"num_heads", 8};
  settings.head_width = "d_kv";
  settings.head_width_otherwise = 64;
  settings.intermediate = {"d_ff", 2048};
  settings.activation = "feed_forward_proj";
  settings.activation_otherwise = "relu";
  settings.tanh_gelu = true;
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-6;
  settings.buckets = {"relative_attention_num_buckets", 32};
  settings.most_distance = {"relative_attention_max_distance", 128};
  settings.divides = Settings::Divides::kTied;
  settings.made_start = settings.shifted_start = "pad_token_id";
  Block& block = family.block;
  block.norm_first = block.norm_before_all = block.rms_norms = block.optional_biases = block.unscaled = true;
  family.roles = {{Slot::kWords, "shared.weight"},
                  {Slot::kQuery, "layer.0.SelfAttention.q"},
                  {Slot::kKey, "layer.0.SelfAttention.k"},
                  {Slot::kValue, "layer.0.SelfAttention.v"},
                  {Slot::kAttentionOut, "layer.0.SelfAttention.o"},
                  {Slot::kAttentionNorm, "layer.0.layer_norm"},
                  {Slot::kQkv, "layer.0.SelfAttention.qkv"},
                  {Slot::kHeads, "layer.0.SelfAttention.heads"},
                  {Slot::kAttention, "layer.0.SelfAttention"}};
  return family;
}

Family t5_source(bool gated) {
  Family family = t5_stack();
  family.layer = "encoder.block.{}";
  family.own_words = "encoder.embed_tokens.weight";
  family.roles.insert({{Slot::kDistances, "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
                       {Slot::kDownNorm, "layer.1.layer_norm"},
                       {Slot::kUp, gated ? "layer.1.DenseReluDense.wi_0" : "layer.1.DenseReluDense.wi"},
                       {Slot::kDown, "layer.1.DenseReluDense.wo"},
                       {Slot::kFinalNorm, "encoder.final_layer_norm"}});
  if (gated) family.roles[Slot::kGate] = "layer.1.DenseReluDense.wi_1";
  return family;
}

Family t5_like(bool gated) {
  Family family = t5_stack();
  family.source = std::make_shared<const Family>(t5_source(gated));
  family.layer = "decoder.block.{}";
  family.own_words = "decoder.embed_tokens.weight";
  family.settings.synonyms = {{"num_layers", "num_decoder_layers"}};
  family.settings.layers.key = "num_decoder_layers";
  family.block.causal = true;
  family.roles.insert({{Slot::kDistances, "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
                       {Slot::kCrossQuery, "layer.1.EncDecAttention.q"},
                       {Slot::kCrossKey, "layer.1.EncDecAttention.k"},
                       {Slot::kCrossValue, "layer.1.EncDecAttention.v"},
                       {Slot::kCrossOut, "layer.1.EncDecAttention.o"},
                       {Slot::kCrossNorm, "layer.1.layer_norm"},
                       {Slot::kCrossKeysValues, "layer.1.EncDecAttention.kv"},
                       {Slot::kCrossAttention, "layer.1.EncDecAttention"},
                       {Slot::kDownNorm, "layer.2.layer_norm"},
                       {Slot::kUp, gated ? "layer.2.DenseReluDense.wi_0" : "layer.2.DenseReluDense.wi"},
                       {Slot::kDown, "layer.2.DenseReluDense.wo"},
                       {Slot::kFinalNorm, "decoder.final_layer_norm"}});
  if (gated) family.roles[Slot::kGate] = "layer.2.DenseReluDense.wi_1";
  // MADLAD-400 and similar models store the embeddings of both sides under the decoder's name.
  family.renamed = {{"decoder.embed_tokens.weight", "shared.weight"}};
  family.unused = {{"embed_tokens.weight", "the same as the shared embeddings"},
                   {"EncDecAttention.relative_attention_bias", "sources have no places"}};
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  Head tags = tag_head(), vectors{fb::TaskKind::embed, nullptr}, rows{fb::TaskKind::none, "EncoderModel"};
  tags.of_source = vectors.of_source = rows.of_source = true;
  family.heads = {{fb::TaskKind::none, "Model"},
                  rows,
                  vectors,
                  tags,
                  {fb::TaskKind::generate, "ForConditionalGeneration", Rows::kTokens, {words}},
                  {fb::TaskKind::generate, "WithLMHeadModel", Rows::kTokens, {words}},
                  source_classify_head(),
                  answer_head()};
  return family;
}

/// Reads LongT5's windows. The other kind of attention adds global tokens of its own and is refused.
void settle_local(const Fields& config, EncoderConfig& out) {
  require(config, {{"encoder_attention_type", "\"local\""}});
  LayerPlaces near;
  near.window = config.count("local_radius", kMaxPositions, 127);
  near.sees_all = false;
  out.places.assign(out.layers, near);
}

}  // namespace

Family t5() {
  Family family = t5_like(false);
  family.model_types = {"t5"};
  family.architectures = {"T5"};
  return family;
}

Family switch_transformers() {
  Family family = t5_like(false);
  family.model_types = {"switch_transformers"};
  family.base = "switch_transformers";
  family.architectures = {"SwitchTransformers"};
  Family source = *family.source;
  source.base = family.base;
  struct Side {
    Family& family;
    const char *up, *down, *router, *expert_up, *expert_down, *experts, *layers;
  };
  const Side sides[] = {
      {source, "layer.1.mlp.wi", "layer.1.mlp.wo", "layer.1.mlp.router.classifier", "layer.1.mlp.experts.expert_{}.wi",
       "layer.1.mlp.experts.expert_{}.wo", "layer.1.mlp.experts", "num_sparse_encoder_layers"},
      {family, "layer.2.mlp.wi", "layer.2.mlp.wo", "layer.2.mlp.router.classifier", "layer.2.mlp.experts.expert_{}.wi",
       "layer.2.mlp.experts.expert_{}.wo", "layer.2.mlp.experts", "num_sparse_decoder_layers"}};
  for (const Side& side : sides) {
    Roles& roles = side.family.roles;
    roles[Slot::kUp] = side.up;
    roles[Slot::kDown] = side.down;
    roles[Slot::kRouter] = side.router;
    roles[Slot::kExpertUp] = side.expert_up;
    roles[Slot::kExpertDown] = side.expert_down;
    roles[Slot::kExperts] = side.experts;
    Settings& settings = side.family.settings;
    settings.hidden.otherwise = 768;
    settings.layers.otherwise = 12;
    settings.heads.otherwise = 12;
    settings.activation = "dense_act_fn";
    settings.tanh_gelu = false;
    settings.required = {{"router_ignore_padding_tokens", "false"}, {"router_dtype", "\"float32\""}};
    settings.experts = {"num_experts", 8};
    settings.experts_of_token = {nullptr, 1};
    settings.expert_capacity = {"expert_capacity", 64};
    settings.layers_of_experts = Settings::ExpertLayers::kSteps;
    settings.expert_layers = {side.layers, 3};
  }
  family.source = std::make_shared<const Family>(std::move(source));
  family.unused.emplace_back("shared.weight", "encoder and decoder have words of their own");
  Head rows{fb::TaskKind::none, "EncoderModel"}, vectors{fb::TaskKind::embed, nullptr};
  rows.of_source = vectors.of_source = true;
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  family.heads = {{fb::TaskKind::none, "Model"},
                  rows,
                  vectors,
                  {fb::TaskKind::generate, "ForConditionalGeneration", Rows::kTokens, {words}}};
  return family;
}

Family mt5() {
  Family family = t5_like(true);
  family.model_types = {"mt5"};
  Family source = *family.source;
  for (Family* side : {&family, &source}) {
    Settings& settings = side->settings;
    settings.divides = Settings::Divides::kAsked;
    settings.vocabulary.otherwise = 250112;
    settings.layers.otherwise = 8;
    settings.heads.otherwise = 6;
    settings.intermediate.otherwise = 1024;
    settings.activation_otherwise = "gated-gelu";
  }
  family.source = std::make_shared<const Family>(std::move(source));
  family.published = {"t5", nullptr, nullptr, "DenseReluDense.wi_0"};
  family.architectures = {"MT5", "T5"};
  return family;
}

Family umt5() {
  Family family = mt5();
  family.model_types = {"umt5"};
  family.published = {};
  family.architectures = {"UMT5"};
  family.settings.divides = Settings::Divides::kTied;
  Family source = *family.source;
  source.roles[Slot::kDistances] = "encoder.block.{}.layer.0.SelfAttention.relative_attention_bias.weight";
  family.roles[Slot::kDistances] = "decoder.block.{}.layer.0.SelfAttention.relative_attention_bias.weight";
  family.source = std::make_shared<const Family>(std::move(source));
  return family;
}

Family longt5() {
  Family family = t5_like(false);
  family.model_types = {"longt5"};
  family.architectures = {"LongT5"};
  Family source = *family.source;
  source.settings.settle = settle_local;
  const Roles names = {{Slot::kDistances, "encoder.block.0.layer.0.LocalSelfAttention.relative_attention_bias.weight"},
                       {Slot::kQuery, "layer.0.LocalSelfAttention.q"},
                       {Slot::kKey, "layer.0.LocalSelfAttention.k"},
                       {Slot::kValue, "layer.0.LocalSelfAttention.v"},
                       {Slot::kAttentionOut, "layer.0.LocalSelfAttention.o"},
                       {Slot::kQkv, "layer.0.LocalSelfAttention.qkv"},
                       {Slot::kHeads, "layer.0.LocalSelfAttention.heads"},
                       {Slot::kAttention, "layer.0.LocalSelfAttention"}};
  for (const auto& [slot, name] : names) source.roles[slot] = name;
  family.source = std::make_shared<const Family>(std::move(source));
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  family.heads = {{fb::TaskKind::none, "Model"},
                  {fb::TaskKind::generate, "ForConditionalGeneration", Rows::kTokens, {words}}};
  return family;
}

}  // namespace bantam::convert
