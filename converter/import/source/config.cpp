#include "import/source/config.h"

#include <fmt/format.h>

#include <sstream>

namespace bantam::convert {
namespace {

// Largest values that make sense and keep every product within 64 bits.
constexpr uint32_t kMaxVocabulary = 1U << 24;
constexpr uint32_t kMaxWidth = 1U << 16;
constexpr uint32_t kMaxLayers = 1U << 10;
constexpr uint32_t kMaxPositions = 1U << 20;

/// Settings that change the mathematics in ways that version 1 does not execute.
void refuse_unsupported(const Fields& config) {
  const std::string positions = config.text("position_embedding_type", "absolute");
  if (positions != "absolute") {
    config.problem(ExitCode::kUnsupported, "position_embedding_type",
                   fmt::format("\"{}\" is not supported; only \"absolute\" is", positions));
  }
  if (config.flag("is_decoder", false)) {
    config.problem(ExitCode::kUnsupported, "is_decoder", "decoders are not supported; only encoders are");
  }
  if (config.flag("add_cross_attention", false)) {
    config.problem(ExitCode::kUnsupported, "add_cross_attention", "cross attention is not supported");
  }
  if (config.has("pruned_heads") && !config.raw("pruned_heads").empty()) {
    config.problem(ExitCode::kUnsupported, "pruned_heads", "layers with pruned heads are not supported yet");
  }
  if (config.has("quantization_config")) {
    config.problem(ExitCode::kUnsupported, "quantization_config",
                   "the weights are already quantized; start from the model before that");
  }
}

/// One count a layer under `key`; `otherwise` for each when the key is absent.
std::vector<uint32_t> per_layer(const Fields& layout, const char* key, const EncoderConfig& config,
                                uint32_t otherwise) {
  std::vector<uint32_t> values(config.layers, otherwise);
  if (!layout.has(key)) return values;
  const Json& list = layout.raw(key);
  if (!list.is_array() || list.size() != config.layers) {
    layout.problem(ExitCode::kInvalid, key, fmt::format("is not a list of {} numbers, one a layer", config.layers));
    return values;
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number_unsigned() || list[i].get<uint64_t>() > kMaxWidth) {
      layout.problem(ExitCode::kInvalid, key,
                     fmt::format("{} is not a whole number up to {}", list[i].dump(), kMaxWidth));
      return values;
    }
    values[i] = list[i].get<uint32_t>();
  }
  return values;
}

void read_widths(const Fields& config, EncoderConfig& out, const char* heads_key) {
  static const Json kNone = Json::object();
  const bool own = config.has("bantam_layout") && config.raw("bantam_layout").is_object();
  Problems nothing;
  const Fields layout = own ? config.inside("bantam_layout") : Fields(kNone, "", nothing);
  if (layout.has("head_width")) {
    out.head_width = layout.count("head_width", kMaxWidth);
  } else {
    out.head_width = out.hidden / out.heads;
    if (out.hidden % out.heads != 0) {
      config.problem(ExitCode::kInvalid, heads_key,
                     fmt::format("{} heads do not divide {} columns", out.heads, out.hidden));
    }
  }
  out.widths.heads = per_layer(layout, "heads", out, out.heads);
  out.widths.intermediate = per_layer(layout, "intermediate", out, out.intermediate);
  out.widths.shared = per_layer(layout, "shared", out, 0);
  for (uint32_t i = 0; i < out.layers; ++i) {
    if (!layout.has("shared")) out.widths.shared[i] = i;
    if (out.widths.heads[i] == 0 || out.widths.intermediate[i] == 0 || out.widths.shared[i] > i) {
      layout.problem(ExitCode::kInvalid, fmt::format("layer {}", i),
                     "has no heads, no feed-forward columns, or shares a later layer's weights");
    }
  }
  if (layout.has("embedding_rank")) out.embedding_rank = layout.count("embedding_rank", kMaxWidth);
}

}  // namespace

fb::ActivationKind read_activation(const Fields& config, const std::string& key, const std::string& otherwise) {
  struct Known {
    fb::ActivationKind kind;
    const char* names;
  };
  static constexpr Known kKnown[] = {
#define BANTAM_ACTIVATION(kind, name, formula, names) {fb::ActivationKind::kind, names},
#include "kernels/activations.inc"
#undef BANTAM_ACTIVATION
      {fb::ActivationKind::none, "linear"}};
  const std::string name = config.text(key, otherwise);
  std::string all;
  for (const Known& known : kKnown) {
    std::istringstream names(known.names);
    for (std::string one; names >> one;) {
      if (one == name) return known.kind;
      all += (all.empty() ? "" : ", ") + one;
    }
  }
  config.problem(ExitCode::kUnsupported, key,
                 fmt::format("activation \"{}\" is not supported; those that are: {}", name, all));
  return fb::ActivationKind::gelu;
}

EncoderConfig read_encoder_config(const Fields& config) {
  EncoderConfig out;
  out.model_type = config.text("model_type", "");
  if (out.model_type == "distilbert") {
    out.family = Family::kDistilBert;
  } else if (out.model_type != "bert") {
    config.problem(
        ExitCode::kUnsupported, "model_type",
        out.model_type.empty()
            ? "is missing; \"bert\" and \"distilbert\" are supported"
            : fmt::format(
                  "\"{}\" is not supported; \"bert\" and \"distilbert\" are: use a model of these for the same task, "
                  "or train one from this model's answers (bantam distill)",
                  out.model_type));
    return out;  // the other keys have other names there
  }
  const bool bert = out.family == Family::kBert;
  refuse_unsupported(config);
  out.vocabulary = config.count("vocab_size", kMaxVocabulary, 30522);
  out.positions = config.count("max_position_embeddings", kMaxPositions, 512);
  out.segments = bert ? config.count("type_vocab_size", kMaxWidth, 2) : 0;
  out.hidden = config.count(bert ? "hidden_size" : "dim", kMaxWidth, 768);
  out.layers = config.count(bert ? "num_hidden_layers" : "n_layers", kMaxLayers, bert ? 12 : 6);
  out.heads = config.count(bert ? "num_attention_heads" : "n_heads", kMaxWidth, 12);
  out.intermediate = config.count(bert ? "intermediate_size" : "hidden_dim", kMaxWidth, 3072);
  out.activation = read_activation(config, bert ? "hidden_act" : "activation", "gelu");
  // transformers fixes DistilBERT's epsilon.
  const double epsilon = bert ? config.number("layer_norm_eps", 1e-12) : 1e-12;
  if (!(epsilon > 0 && epsilon < 1)) {
    config.problem(ExitCode::kInvalid, "layer_norm_eps", fmt::format("{} is not between 0 and 1", epsilon));
  }
  out.epsilon = static_cast<float>(epsilon);
  out.tie_embeddings = config.flag("tie_word_embeddings", true);
  read_widths(config, out, bert ? "num_attention_heads" : "n_heads");
  return out;
}

}  // namespace bantam::convert
