#include "import/encoder.h"

#include <fmt/format.h>

#include <utility>

namespace bantam::convert {
namespace {

/// How a family names the parts of a layer.
struct LayerNames {
  const char* stack;
  const char *query, *key, *value, *qkv;  // qkv: our name of the three together
  const char *out, *out_norm;
  const char *up, *down, *down_norm;
  const char *heads, *attention;  // our names of operators without weights
};

constexpr LayerNames kBertNames = {
    "encoder.layer",      "attention.self.query",   "attention.self.key",         "attention.self.value",
    "attention.self.qkv", "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense",
    "output.dense",       "output.LayerNorm",       "attention.self.heads",       "attention.self"};
constexpr LayerNames kDistilBertNames = {"transformer.layer", "attention.q_lin",   "attention.k_lin", "attention.v_lin",
                                         "attention.qkv_lin", "attention.out_lin", "sa_layer_norm",   "ffn.lin1",
                                         "ffn.lin2",          "output_layer_norm", "attention.heads", "attention"};

class EncoderImporter {
 public:
  EncoderImporter(Builder& builder, Weights& weights, const EncoderConfig& config)
      : builder_(builder),
        weights_(weights),
        config_(config),
        base_(config.model_type + "."),
        names_(config.family == Family::kBert ? kBertNames : kDistilBertNames) {}

  Encoder run(uint32_t positions) {
    Encoder out;
    out.base = base_;
    int32_t x = embeddings(positions, &out.word_embeddings);
    for (uint32_t i = 0; i < config_.layers; ++i) x = layer(fmt::format("{}.{}.", names_.stack, i), x);
    out.hidden = x;
    return out;
  }

 private:
  int32_t table(const std::string& name, uint32_t rows, uint32_t keep) {
    return builder_.embedding(base_ + name, keep, config_.hidden, weights_.encoder(name, {rows, config_.hidden}, keep));
  }

  TailSpec norm(const std::string& name) {
    TailSpec tail;
    tail.norm = fb::NormKind::layer;
    tail.gamma = builder_.vector(base_ + name + ".weight", weights_.encoder(name + ".weight", {config_.hidden}));
    tail.beta = builder_.vector(base_ + name + ".bias", weights_.encoder(name + ".bias", {config_.hidden}));
    tail.epsilon = config_.epsilon;
    return tail;
  }

  int32_t embeddings(uint32_t positions, int32_t* word_embeddings) {
    // The order of addition is transformers'.
    std::vector<EmbedSpec> tables;
    *word_embeddings = table("embeddings.word_embeddings.weight", config_.vocabulary, config_.vocabulary);
    tables.push_back({*word_embeddings, fb::IndexSource::ids});
    builder_.input("input_ids", fb::InputKind::ids, config_.vocabulary);
    if (config_.segments != 0) {
      tables.push_back({table("embeddings.token_type_embeddings.weight", config_.segments, config_.segments),
                        fb::IndexSource::segments});
      builder_.input("token_type_ids", fb::InputKind::segments, config_.segments);
    }
    tables.push_back(
        {table("embeddings.position_embeddings.weight", config_.positions, positions), fb::IndexSource::positions});
    return builder_.embed(base_ + "embeddings", tables, norm("embeddings.LayerNorm"));
  }

  int32_t dense(const std::string& name, int32_t x, uint32_t out, uint32_t in, const TailSpec& tail) {
    const int32_t weight =
        builder_.linear_weight(base_ + name + ".weight", out, in, weights_.encoder(name + ".weight", {out, in}));
    const int32_t bias = builder_.vector(base_ + name + ".bias", weights_.encoder(name + ".bias", {out}));
    return builder_.linear(base_ + name, x, weight, bias, tail);
  }

  /// Queries, keys and values by one multiplication: their weights one above the other.
  int32_t qkv(const std::string& prefix, int32_t x) {
    const uint32_t n = config_.hidden;
    std::vector<Values> weights, biases;
    for (const char* part : {names_.query, names_.key, names_.value}) {
      weights.push_back(weights_.encoder(prefix + part + ".weight", {n, n}));
      biases.push_back(weights_.encoder(prefix + part + ".bias", {n}));
    }
    const std::string name = base_ + prefix + names_.qkv;
    const int32_t weight = builder_.linear_weight(name + ".weight", 3 * n, n, concatenate(std::move(weights)));
    const int32_t bias = builder_.vector(name + ".bias", concatenate(std::move(biases)));
    return builder_.linear(name, x, weight, bias, {});
  }

  int32_t layer(const std::string& prefix, int32_t x) {
    const Heads heads = builder_.split_heads(base_ + prefix + names_.heads, qkv(prefix, x), config_.heads);
    const int32_t context = builder_.attention(base_ + prefix + names_.attention, heads);
    TailSpec attended = norm(prefix + names_.out_norm);
    attended.residual = x;
    x = dense(prefix + names_.out, context, config_.hidden, config_.hidden, attended);
    TailSpec activated;
    activated.activation = config_.activation;
    const int32_t wide = dense(prefix + names_.up, x, config_.intermediate, config_.hidden, activated);
    TailSpec fed = norm(prefix + names_.down_norm);
    fed.residual = x;
    return dense(prefix + names_.down, wide, config_.hidden, config_.intermediate, fed);
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  std::string base_;
  const LayerNames& names_;
};

}  // namespace

Encoder import_encoder(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions) {
  return EncoderImporter(builder, weights, config).run(positions);
}

}  // namespace bantam::convert
