// ModernBERT (arXiv 2412.13663): norms in front, gated feed-forward layers, rotary positions, and attention in windows in all but
// every third layer.
#include "import/families/blocks.h"
#include "import/families/config.h"

namespace bantam::convert {
namespace {

using Out = HeadLayer::Out;
using Activation = HeadLayer::Activation;

constexpr uint32_t kMostTokens = 1U << 20;

/// The base of rotary positions of a kind of layer; newer files have them inside "rope_parameters".
double rotary_base(const Fields& config, const char* kind, const char* legacy, double otherwise) {
  double base = config.number(legacy, otherwise);
  if (config.has("rope_parameters") && config.raw("rope_parameters").is_object()) {
    const Json& kinds = config.raw("rope_parameters");
    const auto found = kinds.find(kind);
    if (found != kinds.end() && found->is_object()) {
      if (found->value("rope_type", "default") != "default") {
        config.problem(ExitCode::kUnsupported, "rope_parameters", "rope_type other than \"default\" is not supported");
      }
      const auto theta = found->find("rope_theta");
      if (theta != found->end() && theta->is_number()) base = theta->get<double>();
    }
  }
  if (!(base >= 1 && base <= 1e12)) {
    config.problem(ExitCode::kInvalid, legacy, "the base of rotary positions is not a number from 1 to 1e12");
    return otherwise;
  }
  return base;
}

void read_places(const Fields& config, EncoderConfig& out) {
  const double global = rotary_base(config, "full_attention", "global_rope_theta", 160000.0);
  const double local = rotary_base(config, "sliding_attention", "local_rope_theta", 10000.0);
  const uint32_t window = config.count("local_attention", kMostTokens, 128) / 2;
  const uint32_t every = config.count("global_attn_every_n_layers", kMostTokens, 3);
  const bool listed = config.has("layer_types");
  const Json& kinds = listed ? config.raw("layer_types") : Json();
  if (listed && (!kinds.is_array() || kinds.size() != out.layers)) {
    config.problem(ExitCode::kInvalid, "layer_types", "is not a list of a word a layer");
    return;
  }
  if (window == 0 || out.head_width % 2 != 0) {
    config.problem(ExitCode::kUnsupported, window == 0 ? "local_attention" : "num_attention_heads",
                   window == 0 ? "a window of no tokens" : "rotary positions want heads of an even width");
    return;
  }
  for (uint32_t i = 0; i < out.layers; ++i) {
    const bool sees_all = listed ? kinds[i] == "full_attention" : i % every == 0;
    if (listed && !sees_all && kinds[i] != "sliding_attention") {
      config.problem(ExitCode::kUnsupported, "layer_types", "only full_attention and sliding_attention are supported");
    }
    out.places.push_back({sees_all ? global : local, sees_all ? 0 : window});
  }
}

}  // namespace

Family modernbert() {
  Family family;
  family.model_types = {"modernbert"};
  family.base = "model";
  family.architectures = {"ModernBert"};
  family.settings.vocabulary.otherwise = 50368;
  family.settings.positions.otherwise = 8192;
  family.settings.segments = {nullptr, 0};
  family.settings.layers.otherwise = 22;
  family.settings.intermediate.otherwise = 1152;
  family.settings.activation = "hidden_activation";
  family.settings.epsilon = "norm_eps";
  family.settings.epsilon_otherwise = 1e-5;
  family.layer = "layers.{}";
  family.block = {true, true, true};
  family.read_places = read_places;
  family.roles = {{Slot::kWords, "embeddings.tok_embeddings.weight"},
                  {Slot::kEmbeddingNorm, "embeddings.norm"},
                  {Slot::kPackedQkv, "attn.Wqkv"},
                  {Slot::kQkv, "attn.Wqkv"},
                  {Slot::kHeads, "attn.heads"},
                  {Slot::kAttention, "attn"},
                  {Slot::kAttentionOut, "attn.Wo"},
                  {Slot::kAttentionNorm, "attn_norm"},
                  {Slot::kPackedUp, "mlp.Wi"},
                  {Slot::kDown, "mlp.Wo"},
                  {Slot::kDownNorm, "mlp_norm"},
                  {Slot::kFinalNorm, "final_norm"}};
  const HeadLayer dense = {
      "head.dense", Out::kHidden, Activation::kOfSetting, "head.norm", nullptr, "classifier_activation", "gelu"};
  family.heads = joined(
      common_heads(),
      {{fb::TaskKind::classify, "ForSequenceClassification", Rows::kOfSetting, {dense, {"classifier", Out::kLabels}}},
       {fb::TaskKind::tag, "ForTokenClassification", Rows::kTokens, {dense, {"classifier", Out::kLabels}}},
       {fb::TaskKind::answer, "ForQuestionAnswering", Rows::kTokens, {dense, {"classifier", Out::kTwo}}},
       {fb::TaskKind::choose, "ForMultipleChoice", Rows::kOfSetting, {dense, {"classifier", Out::kOne}}},
       {fb::TaskKind::fill, "ForMaskedLM", Rows::kTokens, {dense, {"decoder", Out::kVocabulary}}}});
  return family;
}

}  // namespace bantam::convert
