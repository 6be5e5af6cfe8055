#include "import/encoder.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "import/layer_names.h"

namespace bantam::convert {
namespace {

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
        names_(layer_names(config.family)) {}

  Encoder run(uint32_t positions) {
    Encoder out;
    out.base = base_;
    int32_t x = embeddings(positions, &out.word_embeddings);
    for (uint32_t i = 0; i < config_.layers; ++i) x = layer(i, x);
    out.hidden = x;
    return out;
  }

 private:
  int32_t table(const std::string& name, uint32_t rows, uint32_t keep) {
    return builder_.embedding(base_ + name, keep, config_.hidden, weights_.encoder(name, {rows, config_.hidden}, keep));
  }

  EpilogueSpec norm(const std::string& name) {
    EpilogueSpec epilogue;
    epilogue.norm = fb::NormKind::layer;
    epilogue.gamma = builder_.vector(base_ + name + ".weight", weights_.encoder(name + ".weight", {config_.hidden}));
    epilogue.beta = builder_.vector(base_ + name + ".bias", weights_.encoder(name + ".bias", {config_.hidden}));
    epilogue.epsilon = config_.epsilon;
    return epilogue;
  }

  int32_t embeddings(uint32_t positions, int32_t* word_embeddings) {
    builder_.enter(fb::Part::embeddings);
    // The order of addition is transformers'.
    std::vector<EmbedSpec> tables;
    builder_.input("input_ids", fb::InputKind::ids, config_.vocabulary);
    if (config_.embedding_rank == 0) {
      *word_embeddings = table("embeddings.word_embeddings.weight", config_.vocabulary, config_.vocabulary);
      tables.push_back({*word_embeddings, fb::IndexSource::ids});
    }
    if (config_.segments != 0) {
      tables.push_back({table("embeddings.token_type_embeddings.weight", config_.segments, config_.segments),
                        fb::IndexSource::segments});
      builder_.input("token_type_ids", fb::InputKind::segments, config_.segments);
    }
    tables.push_back(
        {table("embeddings.position_embeddings.weight", config_.positions, positions), fb::IndexSource::positions});
    if (config_.embedding_rank == 0) {
      return builder_.embed(base_ + "embeddings", tables, norm("embeddings.LayerNorm"));
    }
    // Factors: narrow rows, and a matrix that widens them (ALBERT's first half, arXiv 1909.11942).
    const uint32_t rank = config_.embedding_rank;
    const std::string words = "embeddings.word_embeddings.weight";
    const int32_t narrow = builder_.embedding(base_ + words, config_.vocabulary, rank,
                                              weights_.encoder(words, {config_.vocabulary, rank}));
    const int32_t rows = builder_.embed(base_ + "embeddings.words", {{narrow, fb::IndexSource::ids}}, {});
    EpilogueSpec epilogue = norm("embeddings.LayerNorm");
    epilogue.residual = builder_.embed(base_ + "embeddings.positions", tables, {});
    return dense(kEmbeddingProjection, rows, config_.hidden, rank, epilogue);
  }

  int32_t matrix(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
    return builder_.linear_weight(base_ + name, rows, columns, std::move(values));
  }

  int32_t dense(const std::string& name, int32_t x, uint32_t out, uint32_t in, const EpilogueSpec& epilogue) {
    const int32_t weight = matrix(name + ".weight", out, in, weights_.encoder(name + ".weight", {out, in}));
    const int32_t bias = builder_.vector(base_ + name + ".bias", weights_.encoder(name + ".bias", {out}));
    return builder_.linear(base_ + name, x, weight, bias, epilogue);
  }

  /// A linear layer of an encoder layer. Where another layer's matrix is shared (`owner` < `layer`), and has the same values,
  /// there is one constant of it; where training has pulled the two apart, each has its own.
  int32_t dense(uint32_t layer, const char* part, int32_t x, const std::vector<const char*>& sources, uint32_t out,
                const EpilogueSpec& epilogue) {
    const uint32_t in = builder_.width(x);
    const std::string name = prefix(layer) + part;
    std::vector<Values> weights, biases;
    for (const char* source : sources) {
      const uint32_t rows = out / static_cast<uint32_t>(sources.size());
      weights.push_back(weights_.encoder(prefix(layer) + source + ".weight", {rows, in}));
      biases.push_back(weights_.encoder(prefix(layer) + source + ".bias", {rows}));
    }
    const uint32_t owner = config_.widths.shared[layer];
    Values values = concatenate(std::move(weights));
    const auto made = made_.find(prefix(owner) + part);
    const int32_t weight = made != made_.end() && builder_.holds(made->second, values)
                               ? made->second
                               : matrix(name + ".weight", out, in, std::move(values));
    made_.emplace(name, weight);
    const int32_t bias = builder_.vector(base_ + name + ".bias", concatenate(std::move(biases)));
    return builder_.linear(base_ + name, x, weight, bias, epilogue);
  }

  std::string prefix(uint32_t layer) const { return fmt::format("{}.{}.", names_.stack, layer); }

  int32_t layer(uint32_t i, int32_t x) {
    const uint32_t heads = config_.widths.heads[i];
    const uint32_t columns = heads * config_.head_width;
    builder_.enter(fb::Part::attention, static_cast<int32_t>(i));
    // Queries, keys and values by one multiplication: their weights one above the other.
    const int32_t qkv = dense(i, names_.qkv, x, {names_.query, names_.key, names_.value}, 3 * columns, {});
    const Heads split = builder_.split_heads(base_ + prefix(i) + names_.heads, qkv, heads);
    const int32_t context = builder_.attention(base_ + prefix(i) + names_.attention, split);
    EpilogueSpec attended = norm(prefix(i) + names_.out_norm);
    attended.residual = x;
    x = dense(i, names_.out, context, {names_.out}, config_.hidden, attended);
    builder_.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
    EpilogueSpec activated;
    activated.activation = config_.activation;
    const int32_t wide = dense(i, names_.up, x, {names_.up}, config_.widths.intermediate[i], activated);
    EpilogueSpec fed = norm(prefix(i) + names_.down_norm);
    fed.residual = x;
    return dense(i, names_.down, wide, {names_.down}, config_.hidden, fed);
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  std::string base_;
  const LayerNames& names_;
  std::map<std::string, int32_t> made_;  // matrices of layers, by name
};

}  // namespace

const LayerNames& layer_names(Family family) { return family == Family::kBert ? kBertNames : kDistilBertNames; }

Encoder import_encoder(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions) {
  return EncoderImporter(builder, weights, config).run(positions);
}

}  // namespace bantam::convert
