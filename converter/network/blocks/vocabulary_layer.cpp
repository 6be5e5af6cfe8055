#include "network/blocks/vocabulary_layer.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "network/blocks/adaptive.h"

namespace bantam::convert {
namespace {

class VocabularyLayer {
 public:
  VocabularyLayer(const HeadContext& context, const HeadLayer& layer)
      : c_(context), family_(*context.config.family), layer_(layer) {}

  /// The output layer over the vocabulary: the word embeddings again, unless the file has another matrix.
  int32_t run(int32_t x) {
    if (!c_.encoder.clusters.empty()) return score_clusters(c_.builder, c_.weights, c_.config, c_.encoder, x);
    const std::string name = layer_.name, weight_name = name + ".weight";
    const uint32_t vocabulary = c_.config.vocabulary, in = c_.builder.width(x);
    // Most files hold one bias under one or both names; if the two differ, the layer's own is used.
    const bool own = layer_.bias == nullptr || c_.weights.has_head(name + ".bias");
    const std::string bias_name = own ? name + ".bias" : layer_.bias;
    if (layer_.bias != nullptr) c_.weights.use_head(layer_.bias);
    if (c_.config.embedding_rank != 0) {
      c_.problems.add(ExitCode::kUnsupported,
                      "factorised embeddings (embedding_rank) cannot serve as an output layer over the vocabulary");
      return x;
    }
    const bool present = c_.weights.has_head(weight_name);
    int32_t weight = c_.encoder.word_embeddings;
    if (layer_.beside != nullptr && in == c_.config.embedding)
      c_.weights.use_head(std::string(layer_.beside) + ".weight");
    if (layer_.beside != nullptr && weight == kAbsent) {
      weight = widened(vocabulary, in);
      return c_.builder.linear(name, x, weight, c_.builder.vector(bias_name, c_.weights.head(bias_name, {vocabulary})),
                               {});
    }
    if (present ? c_.weights.same(weight_name, c_.encoder.words) : c_.config.tie_embeddings) {
      c_.weights.use_head(weight_name);
      if (c_.builder.width(weight) != in) {
        c_.problems.add(ExitCode::kUnsupported,
                        fmt::format("{}: a head of {} columns cannot share word embeddings of {} (embedding_size)",
                                    name, in, c_.builder.width(weight)));
        return x;
      }
      c_.builder.tie(weight);
    } else {
      weight =
          c_.builder.linear_weight(weight_name, vocabulary, in, c_.weights.head_matrix(weight_name, vocabulary, in));
      if (present && c_.config.tie_embeddings) {
        c_.graph.notes.push_back(
            fmt::format("{} differs from the word embeddings, though config.json ties the two: "
                        "its own values are used",
                        weight_name));
      }
    }
    if (layer_.row_bias && c_.weights.has_head(bias_name)) {
      const Values row = c_.weights.head(bias_name, {1, vocabulary});
      return c_.builder.linear(name, x, weight, c_.builder.vector(bias_name, row), {});
    }
    const bool absent =
        layer_.bare || layer_.row_bias || (family_.block.optional_biases && !c_.weights.has_head(bias_name));
    const int32_t bias = absent ? kAbsent : c_.builder.vector(bias_name, c_.weights.head(bias_name, {vocabulary}));
    const bool uncapped = layer_.cap != nullptr && c_.fields.stands(layer_.cap) && !c_.fields.has(layer_.cap);
    const float cap = uncapped ? 0 : number(layer_.cap, layer_.cap_otherwise);
    const float root = layer_.over_root ? std::sqrt(static_cast<float>(in)) : 1.0F;
    scale_hidden(
        number(layer_.factor, layer_.factor_otherwise) / number(layer_.divisor, 1) / (cap == 0 ? 1 : cap) / root, bias);
    EpilogueSpec plain;
    plain.residual = c_.encoder.more_scores;
    if (cap == 0) return c_.builder.linear(name, x, weight, bias, plain);
    EpilogueSpec capped;
    capped.activation = fb::ActivationKind::tanh;
    Values caps;
    caps.values.assign(vocabulary, cap);
    capped.norm = fb::NormKind::affine;
    capped.gamma = c_.builder.vector(name + ".cap", std::move(caps));
    return c_.builder.linear(name, x, weight, bias, capped);
  }

 private:
  /// A setting above 0; `otherwise` if it is absent or null.
  float number(const char* key, double otherwise) const {
    if (key == nullptr) return static_cast<float>(otherwise);
    if (!c_.fields.has(key)) return static_cast<float>(otherwise);
    const double value = c_.fields.number(key, otherwise);
    if (value > 1e-6 && value <= 1e6) return static_cast<float>(value);
    c_.fields.problem(ExitCode::kInvalid, key, fmt::format("{} is not a number above 0", value));
    return static_cast<float>(otherwise);
  }

  /// Multiplies the vocabulary's scores through the last norm, because their matrix may be the word embeddings.
  void scale_hidden(float factor, int32_t bias) {
    if (factor == 1) return;
    for (const int32_t constant : {c_.encoder.gamma, c_.encoder.beta, bias}) {
      if (constant != kAbsent) c_.builder.multiply(constant, factor);
    }
  }

  /// The word embeddings, or the layer's own matrix, extended by further columns.
  int32_t widened(uint32_t vocabulary, uint32_t in) {
    const uint32_t narrow = c_.config.embedding;
    const std::string own = std::string(layer_.name) + ".weight";
    Values words = c_.weights.has_head(own) ? c_.weights.head(own, {vocabulary, narrow})
                                            : c_.weights.encoder(family_.name(Slot::kWords), {vocabulary, narrow});
    if (in == narrow) return c_.builder.linear_weight(own, vocabulary, in, std::move(words));
    const Values beside = c_.weights.head(std::string(layer_.beside) + ".weight", {in - narrow, vocabulary});
    if (words.values.empty() || beside.values.empty()) return c_.builder.linear_weight(own, vocabulary, in, {});
    std::vector<float> rows;
    rows.reserve(size_t{vocabulary} * in);
    for (size_t row = 0; row < vocabulary; ++row) {
      const auto begin = words.values.begin() + static_cast<std::ptrdiff_t>(row * narrow);
      rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(narrow));
      for (size_t column = 0; column < in - narrow; ++column) rows.push_back(beside.values[column * vocabulary + row]);
    }
    words.values = std::move(rows);
    words.source.insert(words.source.end(), beside.source.begin(), beside.source.end());
    words.source_bytes += beside.source_bytes;
    return c_.builder.linear_weight(own, vocabulary, in, std::move(words));
  }

  const HeadContext& c_;
  const Family& family_;
  const HeadLayer& layer_;
};

}  // namespace

int32_t add_vocabulary_layer(const HeadContext& context, const HeadLayer& layer, int32_t x) {
  return VocabularyLayer(context, layer).run(x);
}

}  // namespace bantam::convert
