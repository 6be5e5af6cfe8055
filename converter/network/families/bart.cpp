// BART (arXiv 1910.13461), and translators and summarizers with the same names of layers: mBART (arXiv 2001.08210),
// Marian (arXiv 1804.00344; its students with SSRU cells), M2M-100 and NLLB, also with experts (arXiv 2010.11125,
// 2207.04672), Pegasus (arXiv 1912.08777), Blenderbot (arXiv 2004.13637), MVP (arXiv 2206.12131), PLBART (arXiv
// 2103.06333), FSMT (arXiv 1907.06616), Pegasus with Big Bird's blocks (arXiv 2007.14062), LED with Longformer's
// windows (arXiv 2004.05150), the text model of SeamlessM4T (arXiv 2308.11596); their decoders alone; and the decoders
// of TrOCR (arXiv 2109.10282) and Whisper (arXiv 2212.04356).
#include <iterator>
#include <utility>

#include "network/families/blocks.h"
#include "network/settings/config.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kBartInFront = 2;

/// Settings of one stack; some keys begin with "encoder_" or "decoder_".
Family bart_stack(bool decoder) {
  Family family;
  family.base = "model";
  family.other_bases = {"transformer"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50265;
  settings.positions.otherwise = 1024;
  settings.positions_in_front = kBartInFront;
  settings.segments = {nullptr, 0};
  settings.hidden = {"d_model", 1024};
  settings.layers = {decoder ? "decoder_layers" : "encoder_layers", 12};
  settings.heads = {decoder ? "decoder_attention_heads" : "encoder_attention_heads", 16};
  settings.intermediate = {decoder ? "decoder_ffn_dim" : "encoder_ffn_dim", 4096};
  settings.activation = "activation_function";
  settings.epsilon = nullptr;
  settings.epsilon_otherwise = 1e-5;
  settings.scaled_if.key = "scale_embedding";
  family.layer = decoder ? "decoder.layers.{}" : "encoder.layers.{}";
  family.own_words = decoder ? "decoder.embed_tokens.weight" : "encoder.embed_tokens.weight";
  family.anchor = "decoder.layers.0.fc1.weight";
  family.block.causal = decoder;
  family.roles = {{Slot::kWords, "shared.weight"},
                  {Slot::kPositions, decoder ? "decoder.embed_positions.weight" : "encoder.embed_positions.weight"},
                  {Slot::kEmbeddingNorm, decoder ? "decoder.layernorm_embedding" : "encoder.layernorm_embedding"},
                  {Slot::kQuery, "self_attn.q_proj"},
                  {Slot::kKey, "self_attn.k_proj"},
                  {Slot::kValue, "self_attn.v_proj"},
                  {Slot::kAttentionOut, "self_attn.out_proj"},
                  {Slot::kAttentionNorm, "self_attn_layer_norm"},
                  {Slot::kUp, "fc1"},
                  {Slot::kDown, "fc2"},
                  {Slot::kDownNorm, "final_layer_norm"},
                  {Slot::kQkv, "self_attn.qkv"},
                  {Slot::kHeads, "self_attn.heads"},
                  {Slot::kAttention, "self_attn"}};
  if (!decoder) return family;
  family.roles.insert({{Slot::kCrossQuery, "encoder_attn.q_proj"},
                       {Slot::kCrossKey, "encoder_attn.k_proj"},
                       {Slot::kCrossValue, "encoder_attn.v_proj"},
                       {Slot::kCrossOut, "encoder_attn.out_proj"},
                       {Slot::kCrossNorm, "encoder_attn_layer_norm"},
                       {Slot::kCrossKeysValues, "encoder_attn.kv"},
                       {Slot::kCrossAttention, "encoder_attn"}});
  return family;
}

/// Further settings that both stacks of a family share.
struct StackKind {
  bool norm_first = false;  // and a norm follows the last layer
  bool embedding_norm = true;
  Settings::Sinusoids sinusoids = Settings::Sinusoids::kNone;
  uint32_t in_front = kBartInFront;
};

Family of_kind(const StackKind& kind, bool decoder) {
  Family family = bart_stack(decoder);
  family.block.norm_first = family.block.norm_before_all = kind.norm_first;
  if (!kind.embedding_norm) family.roles.erase(Slot::kEmbeddingNorm);
  if (kind.norm_first) family.roles[Slot::kFinalNorm] = decoder ? "decoder.layer_norm" : "encoder.layer_norm";
  family.settings.positions_in_front = kind.in_front;
  family.settings.sinusoids = kind.sinusoids;
  return family;
}

Family bart_like(const StackKind& kind, const char* model_type, const char* architecture, const char* words_class) {
  Family family = of_kind(kind, true);
  family.source = std::make_shared<const Family>(of_kind(kind, false));
  family.model_types = {model_type};
  family.architectures = {architecture};
  family.unused = {{"embed_tokens.weight", "the same as the shared embeddings"},
                   {"shared.weight", "encoder and decoder have their own"}};
  if (kind.sinusoids != Settings::Sinusoids::kNone) {
    family.unused.emplace_back("embed_positions.weights", "the settings say the sinusoids");
    family.unused.emplace_back("embed_positions._float_tensor", "a buffer, not a weight");
  }
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bias = "final_logits_bias";
  words.row_bias = true;
  family.heads = {{fb::TaskKind::none, "Model"},
                  {fb::TaskKind::generate, words_class, Rows::kTokens, {words}},
                  source_classify_head(),
                  answer_head()};
  return family;
}

/// Names the attention to the source as SeamlessM4T and NLLB with experts do.
void name_cross_attention(Roles& roles) {
  roles[Slot::kCrossQuery] = "cross_attention.q_proj";
  roles[Slot::kCrossKey] = "cross_attention.k_proj";
  roles[Slot::kCrossValue] = "cross_attention.v_proj";
  roles[Slot::kCrossOut] = "cross_attention.out_proj";
  roles[Slot::kCrossNorm] = "cross_attention_layer_norm";
  roles[Slot::kCrossKeysValues] = "cross_attention.kv";
  roles[Slot::kCrossAttention] = "cross_attention";
}

/// Refuses capacities of NLLB's experts that leave tokens out.
void refuse_capacities(const Fields& config, EncoderConfig&) {
  constexpr const char* kFraction = "moe_eval_capacity_token_fraction";
  if (!(config.number(kFraction, 1) >= 1)) {
    config.problem(ExitCode::kUnsupported, kFraction, "experts that leave tokens out are not supported; set it to 1");
  }
}

/// The decoder of a family in its own files, without a source to attend to.
Family alone(Family family, const char* model_type, const char* published) {
  family.published = {family.model_types.front(), nullptr, nullptr, "decoder.layers.", published};
  family.model_types = {model_type};
  family.source = nullptr;
  family.own_words = nullptr;
  for (auto role = family.roles.begin(); role != family.roles.end();) {
    const bool cross =
        is_cross(role->first) || role->first == Slot::kCrossKeysValues || role->first == Slot::kCrossAttention;
    role = cross ? family.roles.erase(role) : std::next(role);
  }
  family.roles[Slot::kWords] = "decoder.embed_tokens.weight";
  family.unused.emplace_back("encoder_attn", "there is no encoder to attend to");
  family.heads = decoder_heads("ForCausalLM");
  return family;
}

}  // namespace

Family bart() { return bart_like({}, "bart", "Bart", "ForConditionalGeneration"); }

Family mbart() {
  StackKind kind;
  kind.norm_first = true;
  Family family = bart_like(kind, "mbart", "MBart", "ForConditionalGeneration");
  family.settings.shifted_around = true;
  return family;
}

Family marian() {
  StackKind kind;
  kind.embedding_norm = false;
  kind.sinusoids = Settings::Sinusoids::kHalves;
  kind.in_front = 0;
  Family family = bart_like(kind, "marian", "Marian", "MTModel");
  // The target vocabulary, if it differs from the source vocabulary.
  family.settings.vocabulary = {"decoder_vocab_size", 58101};
  family.settings.synonyms = {{"vocab_size", "decoder_vocab_size"}};
  return family;
}

Family marian_ssru() {
  StackKind kind;
  kind.embedding_norm = false;
  kind.sinusoids = Settings::Sinusoids::kSteps;
  kind.in_front = 0;
  Family family = bart_like(kind, "marian_ssru", "MarianSsru", "MTModel");
  family.settings.vocabulary = {"decoder_vocab_size", 0};
  family.settings.epsilon_otherwise = 1e-9;
  auto source = *family.source;
  source.settings.epsilon_otherwise = 1e-9;
  family.source = std::make_shared<const Family>(std::move(source));
  for (const Slot slot :
       {Slot::kQuery, Slot::kKey, Slot::kValue, Slot::kAttentionOut, Slot::kQkv, Slot::kHeads, Slot::kAttention}) {
    family.roles.erase(slot);
  }
  family.roles.insert({{Slot::kForget, "ssru.forget"},
                       {Slot::kCandidate, "ssru.candidate"},
                       {Slot::kGates, "ssru.gates"},
                       {Slot::kCells, "ssru"}});
  family.roles[Slot::kAttentionNorm] = "ssru_layer_norm";
  return family;
}

Family m2m_100() {
  StackKind kind;
  kind.norm_first = true;
  kind.embedding_norm = false;
  kind.sinusoids = Settings::Sinusoids::kSteps;
  Family family = bart_like(kind, "m2m_100", "M2M100", "ForConditionalGeneration");
  Family source = *family.source;
  for (Family* side : {&family, &source}) {
    side->settings.activation_otherwise = "relu";
    side->settings.scaled_if.otherwise = true;
    side->settings.padding = {"pad_token_id", 1};
    side->settings.rows_behind_padding = true;
  }
  family.source = std::make_shared<const Family>(std::move(source));
  return family;
}

Family nllb_moe() {
  Family family = m2m_100();
  family.model_types = {"nllb-moe"};
  family.architectures = {"NllbMoe"};
  family.anchor = "decoder.layers.0.ff_layer_norm.weight";
  Family source = *family.source;
  for (Family* side : {&family, &source}) {
    const bool decoder = side == &family;
    side->anchor = family.anchor;
    Settings& settings = side->settings;
    settings.vocabulary.otherwise = 128112;
    settings.required = {{"second_expert_policy", "\"all\""},
                         {"router_dtype", "\"float32\""},
                         {"router_ignore_padding_tokens", "false"}};
    settings.experts = {"num_experts", 128};
    settings.experts_of_token = {nullptr, 2};
    settings.shares_of_one = {nullptr, true};
    settings.layers_of_experts = Settings::ExpertLayers::kLast;
    settings.expert_layers = {decoder ? "decoder_sparse_step" : "encoder_sparse_step", 4};
    settings.experts_dropped = "moe_token_dropout";
    settings.experts_dropped_otherwise = 0.2;
    settings.settle = refuse_capacities;
    Roles& roles = side->roles;
    roles[Slot::kUp] = "ffn.fc1";
    roles[Slot::kDown] = "ffn.fc2";
    roles[Slot::kDownNorm] = "ff_layer_norm";
    roles[Slot::kRouter] = "ffn.router.classifier";
    roles[Slot::kExpertUp] = "ffn.experts.expert_{}.fc1";
    roles[Slot::kExpertDown] = "ffn.experts.expert_{}.fc2";
    roles[Slot::kExperts] = "ffn.experts";
  }
  name_cross_attention(family.roles);
  family.source = std::make_shared<const Family>(std::move(source));
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  family.heads = {{fb::TaskKind::none, "Model"},
                  {fb::TaskKind::generate, "ForConditionalGeneration", Rows::kTokens, {words}}};
  return family;
}

Family pegasus() {
  StackKind kind;
  kind.norm_first = true;
  kind.embedding_norm = false;
  kind.sinusoids = Settings::Sinusoids::kHalves;
  kind.in_front = 0;
  return bart_like(kind, "pegasus", "Pegasus", "ForConditionalGeneration");
}

Family blenderbot() {
  StackKind kind;
  kind.norm_first = true;
  kind.embedding_norm = false;
  kind.in_front = 0;
  return bart_like(kind, "blenderbot", "Blenderbot", "ForConditionalGeneration");
}

Family blenderbot_small() {
  StackKind kind;
  kind.in_front = 0;
  Family family = bart_like(kind, "blenderbot-small", "BlenderbotSmall", "ForConditionalGeneration");
  family.block.words_normed = true;
  return family;
}

Family mvp() {
  Family family = bart_like({}, "mvp", "Mvp", "ForConditionalGeneration");
  family.settings.required = {{"use_prompt", "false"}};
  return family;
}

Family plbart() {
  Family family = bart_like({}, "plbart", "PLBart", "ForConditionalGeneration");
  family.settings.shifted_around = true;
  Family source = *family.source;
  for (Family* side : {&family, &source}) {
    side->settings.scaled_if.otherwise = true;
    side->settings.hidden.otherwise = 768;
    side->settings.layers.otherwise = 6;
    side->settings.heads.otherwise = 12;
    side->settings.intermediate.otherwise = 3072;
  }
  family.source = std::make_shared<const Family>(std::move(source));
  return family;
}

Family fsmt() {
  StackKind kind;
  kind.embedding_norm = false;
  kind.sinusoids = Settings::Sinusoids::kSteps;
  Family family = bart_like(kind, "fsmt", "FSMT", "ForConditionalGeneration");
  Family source = *family.source;
  for (Family* side : {&family, &source}) {
    side->settings.padding = {"pad_token_id", 1};
    side->settings.rows_behind_padding = true;
    side->settings.scaled_if.otherwise = true;
    side->settings.activation_otherwise = "relu";
  }
  family.settings.vocabulary = {"tgt_vocab_size", 42024};
  source.settings.vocabulary = {"src_vocab_size", 42024};
  family.source = std::make_shared<const Family>(std::move(source));
  family.renamed = {{"model.decoder.output_projection.", "lm_head."}};
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  family.heads = {{fb::TaskKind::none, "Model"},
                  {fb::TaskKind::generate, "ForConditionalGeneration", Rows::kTokens, {words}}};
  return family;
}

Family bigbird_pegasus() {
  StackKind kind;
  kind.norm_first = true;
  kind.embedding_norm = false;
  kind.in_front = 0;
  Family family = bart_like(kind, "bigbird_pegasus", "BigBirdPegasus", "ForConditionalGeneration");
  Family source = *family.source;
  for (Family* side : {&family, &source}) {
    side->settings.vocabulary.otherwise = 96103;
    side->settings.positions.otherwise = 4096;
    side->settings.layers.otherwise = 16;
    side->settings.activation_otherwise = "gelu_new";
    side->settings.scaled_if.otherwise = true;
    side->block.optional_biases = true;
  }
  source.settings.blocks = true;
  family.roles[Slot::kFinalNorm] = "decoder.layernorm_embedding";
  source.roles[Slot::kFinalNorm] = "encoder.layernorm_embedding";
  source.roles[Slot::kQuery] = "self_attn.self.query";
  source.roles[Slot::kKey] = "self_attn.self.key";
  source.roles[Slot::kValue] = "self_attn.self.value";
  source.roles[Slot::kAttentionOut] = "self_attn.output";
  family.source = std::make_shared<const Family>(std::move(source));
  return family;
}

Family led() {
  StackKind kind;
  kind.in_front = 0;
  Family family = bart_like(kind, "led", "LED", "ForConditionalGeneration");
  family.base = "led";
  family.other_bases = {};
  family.settings.positions = {"max_decoder_position_embeddings", 1024};
  Family source = *family.source;
  source.base = "led";
  source.other_bases = {};
  source.settings.positions = {"max_encoder_position_embeddings", 16384};
  source.settings.spans = "attention_window";
  source.roles[Slot::kQuery] = "self_attn.longformer_self_attn.query";
  source.roles[Slot::kKey] = "self_attn.longformer_self_attn.key";
  source.roles[Slot::kValue] = "self_attn.longformer_self_attn.value";
  source.roles[Slot::kAttentionOut] = "self_attn.output";
  source.roles[Slot::kGlobalQuery] = "self_attn.longformer_self_attn.query_global";
  source.roles[Slot::kGlobalKey] = "self_attn.longformer_self_attn.key_global";
  source.roles[Slot::kGlobalValue] = "self_attn.longformer_self_attn.value_global";
  source.roles[Slot::kGlobalKeysValues] = "self_attn.longformer_self_attn.key_value_global";
  source.roles[Slot::kGlobalHeads] = "self_attn.heads_global";
  source.roles[Slot::kGlobalAttention] = "self_attn.global";
  family.source = std::make_shared<const Family>(std::move(source));
  family.unused.emplace_back("_global.", "no token of a source is global");
  return family;
}

Family seamless_m4t() {
  StackKind kind;
  kind.norm_first = true;
  kind.embedding_norm = false;
  kind.sinusoids = Settings::Sinusoids::kSteps;
  kind.in_front = 1;
  Family family = bart_like(kind, "seamless_m4t", "SeamlessM4T", "ForTextToText");
  family.model_types.push_back("seamless_m4t_v2");
  family.architectures.push_back("SeamlessM4Tv2");
  family.anchor = "text_decoder.layers.0.ffn.fc1.weight";
  Family source = *family.source;
  for (Family* side : {&family, &source}) {
    const bool decoder = side == &family;
    Settings& settings = side->settings;
    settings.vocabulary.otherwise = 256102;
    settings.positions.otherwise = 4096;
    settings.hidden = {"hidden_size", 1024};
    settings.layers.otherwise = 24;
    settings.intermediate.otherwise = 8192;
    settings.activation_otherwise = "relu";
    settings.scaled_if.otherwise = true;
    settings.padding = {"pad_token_id", 0};
    settings.rows_behind_padding = true;
    // The common names mean the decoder.
    if (decoder)
      settings.synonyms = {{"num_attention_heads", "decoder_attention_heads"}, {"num_hidden_layers", "decoder_layers"}};
    side->anchor = family.anchor;
    side->layer = decoder ? "text_decoder.layers.{}" : "text_encoder.layers.{}";
    side->own_words = decoder ? "text_decoder.embed_tokens.weight" : "text_encoder.embed_tokens.weight";
    Roles& roles = side->roles;
    roles[Slot::kPositions] = decoder ? "text_decoder.embed_positions.weight" : "text_encoder.embed_positions.weight";
    roles[Slot::kFinalNorm] = decoder ? "text_decoder.layer_norm" : "text_encoder.layer_norm";
    roles[Slot::kDownNorm] = "ffn_layer_norm";
    roles[Slot::kUp] = "ffn.fc1";
    roles[Slot::kDown] = "ffn.fc2";
  }
  name_cross_attention(family.roles);
  family.source = std::make_shared<const Family>(std::move(source));
  HeadLayer words{"lm_head", Out::kVocabulary};
  words.bare = true;
  family.heads = {{fb::TaskKind::generate, "ForTextToText", Rows::kTokens, {words}}};
  return family;
}

Family bart_decoder() { return alone(bart(), "bart_decoder", "BartForCausalLM"); }
Family mbart_decoder() { return alone(mbart(), "mbart_decoder", "MBartForCausalLM"); }
Family marian_decoder() { return alone(marian(), "marian_decoder", "MarianForCausalLM"); }
Family pegasus_decoder() { return alone(pegasus(), "pegasus_decoder", "PegasusForCausalLM"); }
Family blenderbot_decoder() { return alone(blenderbot(), "blenderbot_decoder", "BlenderbotForCausalLM"); }
Family blenderbot_small_decoder() {
  return alone(blenderbot_small(), "blenderbot_small_decoder", "BlenderbotSmallForCausalLM");
}
Family mvp_decoder() { return alone(mvp(), "mvp_decoder", "MvpForCausalLM"); }
Family bigbird_pegasus_decoder() {
  return alone(bigbird_pegasus(), "bigbird_pegasus_decoder", "BigBirdPegasusForCausalLM");
}
Family plbart_decoder() { return alone(plbart(), "plbart_decoder", "PLBartForCausalLM"); }

Family trocr() {
  Family family = alone(bart(), "trocr", "TrOCRForCausalLM");
  family.published = {};
  family.architectures = {"TrOCR"};
  Settings& settings = family.settings;
  settings.positions.otherwise = 512;
  settings.synonyms = {{"num_hidden_layers", "decoder_layers"}, {"num_attention_heads", "decoder_attention_heads"}};
  settings.required = {{"layernorm_embedding", "true"}, {"use_learned_position_embeddings", "true"}};
  family.renamed = {{"output_projection.", "lm_head."}};
  return family;
}

Family whisper_decoder() {
  StackKind kind;
  kind.norm_first = true;
  kind.embedding_norm = false;
  kind.in_front = 0;
  Family family = alone(bart_like(kind, "whisper", "Whisper", "ForConditionalGeneration"), "whisper", "");
  family.published = {};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 51865;
  settings.positions = {"max_target_positions", 448};
  settings.scaled_if = {};  // transformers ignores scale_embedding here
  settings.hidden.otherwise = 384;
  settings.layers.otherwise = 4;
  settings.heads.otherwise = 6;
  settings.intermediate.otherwise = 1536;
  family.block.optional_biases = true;
  family.renamed = {{"proj_out.", "lm_head."}};
  return family;
}

}  // namespace bantam::convert
