#include "network/blocks/adaptive.h"

#include <fmt/format.h>

#include <utility>

#include "network/blocks/modules.h"

namespace bantam::convert {
namespace {

uint32_t begin_of(const EncoderConfig& config, size_t cluster) {
  return cluster == 0 ? 0 : config.clusters[cluster - 1].end;
}

/// The words' matrices of each cluster, [words, columns], or (`vectors`) one number per word: `take` reads each
/// cluster's tensor by its number; if all clusters have the same columns, they are parts of one tensor.
template <typename Take>
std::vector<Values> of_clusters(const EncoderConfig& config, bool vectors, const Take& take) {
  std::vector<Values> all;
  const Values whole = config.same_columns ? take(0, config.vocabulary, config.embedding) : Values{};
  for (size_t i = 0; i < config.clusters.size(); ++i) {
    const auto& [end, columns] = config.clusters[i];
    const uint32_t begin = begin_of(config, i);
    all.push_back(config.same_columns ? rows_between(whole, vectors ? 1 : columns, begin, end)
                                      : take(i, end - begin, columns));
  }
  return all;
}

/// True if rows of words, or of a cluster, must be widened to the hidden columns.
bool widens(const EncoderConfig& config) { return !config.same_columns || config.embedding != config.hidden; }

std::string table_name(size_t cluster) { return fmt::format("word_emb.emb_layers.{}.weight", cluster); }
std::string projection_name(size_t cluster) { return fmt::format("word_emb.emb_projs.{}", cluster); }

}  // namespace

int32_t embed_clusters(Builder& builder, Weights& weights, const EncoderConfig& config, const std::string& base,
                       Encoder* out) {
  const std::vector<Values> tables = of_clusters(config, false, [&](size_t cluster, uint32_t words, uint32_t columns) {
    return weights.encoder(table_name(cluster), {words, columns});
  });
  std::vector<EmbedSpec> specs;
  for (size_t i = 0; i < tables.size(); ++i) {
    const uint32_t begin = begin_of(config, i), words = config.clusters[i].end - begin;
    out->clusters.push_back(builder.embedding(base + table_name(i), words, config.clusters[i].columns, tables[i]));
    specs.push_back(
        {out->clusters.back(), fb::IndexSource::part, config.embedding_factor, -static_cast<int32_t>(begin)});
  }
  const auto widened = [&](size_t cluster, int32_t x, int32_t sum) {
    const std::string name = projection_name(cluster);
    const uint32_t columns = builder.width(x);
    const int32_t matrix =
        builder.linear_weight(base + name, config.hidden, columns, weights.encoder(name, {config.hidden, columns}));
    EpilogueSpec added;
    added.residual = sum;
    return builder.linear(base + name + ".rows", x, matrix, kAbsent, added);
  };
  if (config.same_columns) {
    const int32_t x = builder.embed(base + "embeddings", specs, {});
    return widens(config) ? widened(0, x, kAbsent) : x;
  }
  int32_t sum = kAbsent;
  for (size_t i = 0; i < specs.size(); ++i) {
    sum = widened(i, builder.embed(fmt::format("{}embeddings.{}", base, i), {specs[i]}, {}), sum);
  }
  return sum;
}

namespace {

class Scores {
 public:
  Scores(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder, int32_t x)
      : builder_(builder), weights_(weights), config_(config), encoder_(encoder), x_(x) {}

  int32_t run() {
    std::vector<Values> biases = of_clusters(config_, true, [&](size_t cluster, uint32_t words, uint32_t) {
      return weights_.head(name("out_layers", cluster) + ".bias", {words});
    });
    const std::vector<Values> own = own_matrices();
    const int32_t in_front = narrowed(0);
    std::vector<int32_t> words;
    for (size_t i = 0; i < config_.clusters.size(); ++i) {
      const int32_t bias = builder_.vector(name("out_layers", i) + ".bias", std::move(biases[i]));
      const int32_t rows = i == 0 ? in_front : narrowed(i);
      words.push_back(builder_.linear(name("out_layers", i), rows, matrix(i, own), bias, {}));
    }
    const int32_t front = words.front();
    if (words.size() == 1) return front;
    words.erase(words.begin());
    return builder_.adaptive_softmax("crit", front, of_clusters_themselves(in_front), words);
  }

 private:
  static std::string name(const char* what, size_t cluster) { return fmt::format("crit.{}.{}", what, cluster); }

  /// Empty: the output matrices are the tables.
  std::vector<Values> own_matrices() {
    if (config_.tie_embeddings && !weights_.has_head(name("out_layers", 0) + ".weight")) return {};
    return of_clusters(config_, false, [&](size_t cluster, uint32_t words, uint32_t columns) {
      return weights_.head(name("out_layers", cluster) + ".weight", {words, columns});
    });
  }

  int32_t matrix(size_t cluster, const std::vector<Values>& own) {
    const int32_t table = encoder_.clusters[cluster];
    if (own.empty() || builder_.holds(table, own[cluster])) {
      builder_.tie(table);
      return table;
    }
    return builder_.linear_weight(name("out_layers", cluster) + ".weight", builder_.rows(table), builder_.width(table),
                                  own[cluster]);
  }

  /// The rows from which a cluster's words are scored.
  int32_t narrowed(size_t cluster) {
    if (!widens(config_)) return x_;
    const std::string own = name("out_projs", cluster);
    const uint32_t columns = config_.clusters[cluster].columns, hidden = config_.hidden;
    Values widening = weights_.has_head(own)
                          ? weights_.head(own, {hidden, columns})
                          : weights_.encoder(projection_name(config_.same_columns ? 0 : cluster), {hidden, columns});
    widening.values = turned(widening.values, hidden);
    return builder_.linear(own, x_, builder_.linear_weight(own + ".weight", columns, hidden, std::move(widening)),
                           kAbsent, {});
  }

  int32_t of_clusters_themselves(int32_t rows) {
    const auto count = static_cast<uint32_t>(config_.clusters.size() - 1);
    const uint32_t columns = config_.clusters.front().columns;
    const int32_t weight = builder_.linear_weight("crit.cluster_weight", count, columns,
                                                  weights_.head("crit.cluster_weight", {count, columns}));
    const int32_t bias = builder_.vector("crit.cluster_bias", weights_.head("crit.cluster_bias", {count}));
    return builder_.linear("crit.clusters", rows, weight, bias, {});
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Encoder& encoder_;
  int32_t x_;
};

}  // namespace

int32_t score_clusters(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                       int32_t x) {
  return Scores(builder, weights, config, encoder, x).run();
}

}  // namespace bantam::convert
