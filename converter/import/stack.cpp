#include "import/stack.h"

#include <map>
#include <utility>

namespace bantam::convert {
namespace {

class Stack {
 public:
  Stack(Builder& builder, Weights& weights, const EncoderConfig& config)
      : builder_(builder),
        weights_(weights),
        config_(config),
        family_(*config.family),
        base_(std::string(config.family->base) + ".") {}

  Encoder run(uint32_t positions) {
    Encoder out;
    out.base = base_;
    int32_t x = embeddings(positions, &out.word_embeddings);
    for (uint32_t i = 0; i < config_.layers; ++i) x = layer(i, x);
    out.hidden = x;
    return out;
  }

 private:
  /// The first `keep` of a table's rows, without the first `skip`.
  int32_t table(Slot slot, uint32_t rows, uint32_t skip, uint32_t keep) {
    const std::string name = family_.name(slot);
    const uint32_t width = config_.embedding;
    Values values = weights_.encoder(name, {rows, width}, skip + keep);
    if (!values.values.empty()) values.values.erase(values.values.begin(), values.values.begin() + skip * width);
    return builder_.embedding(base_ + name, keep, width, std::move(values));
  }
  int32_t table(Slot slot, uint32_t rows) { return table(slot, rows, 0, rows); }

  /// A vector of the encoder; the same one where layers name the same tensor.
  int32_t vector(const std::string& name, uint32_t width) {
    const auto made = made_.find(name);
    if (made != made_.end()) return made->second;
    const int32_t index = builder_.vector(base_ + name, weights_.encoder(name, {width}));
    made_.emplace(name, index);
    return index;
  }

  EpilogueSpec norm(const std::string& name, uint32_t width) {
    EpilogueSpec epilogue;
    epilogue.norm = fb::NormKind::layer;
    epilogue.gamma = vector(name + ".weight", width);
    epilogue.beta = vector(name + ".bias", width);
    epilogue.epsilon = config_.epsilon;
    return epilogue;
  }

  int32_t embeddings(uint32_t positions, int32_t* word_embeddings) {
    builder_.enter(fb::Part::embeddings);
    // The order of addition is transformers'.
    std::vector<EmbedSpec> tables;
    builder_.input("input_ids", fb::InputKind::ids, config_.vocabulary);
    if (config_.embedding_rank == 0) {
      *word_embeddings = table(Slot::kWords, config_.vocabulary);
      tables.push_back({*word_embeddings, fb::IndexSource::ids});
    }
    if (config_.segments == 1 && family_.settings.lone_segment) {
      tables.push_back({table(Slot::kSegments, 1), fb::IndexSource::zero});
    } else if (config_.segments != 0) {
      tables.push_back({table(Slot::kSegments, config_.segments), fb::IndexSource::segments});
      builder_.input("token_type_ids", fb::InputKind::segments, config_.segments);
    }
    tables.push_back(
        {table(Slot::kPositions, config_.first_position + config_.positions, config_.first_position, positions),
         fb::IndexSource::positions});
    if (config_.task_types != 0) {
      tables.push_back({table(Slot::kTaskTypes, config_.task_types, 0, 1), fb::IndexSource::zero});
    }
    if (config_.embedding_rank != 0) return factorised(tables);
    const int32_t sum =
        builder_.embed(base_ + "embeddings", tables, norm(family_.name(Slot::kEmbeddingNorm), config_.embedding));
    return config_.projects ? dense(family_.name(Slot::kEmbeddingProjection), sum, config_.hidden, {}) : sum;
  }

  /// Factors: narrow rows, and a matrix that widens them (ALBERT's first half, arXiv 1909.11942).
  int32_t factorised(const std::vector<EmbedSpec>& others) {
    const uint32_t rank = config_.embedding_rank;
    const std::string words = family_.name(Slot::kWords);
    const int32_t narrow = builder_.embedding(base_ + words, config_.vocabulary, rank,
                                              weights_.encoder(words, {config_.vocabulary, rank}));
    const int32_t rows = builder_.embed(base_ + "embeddings.words", {{narrow, fb::IndexSource::ids}}, {});
    EpilogueSpec epilogue = norm(family_.name(Slot::kEmbeddingNorm), config_.hidden);
    epilogue.residual = builder_.embed(base_ + "embeddings.positions", others, {});
    return dense(family_.name(Slot::kFactorProjection), rows, config_.hidden, epilogue);
  }

  int32_t matrix(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
    return builder_.linear_weight(base_ + name, rows, columns, std::move(values));
  }

  int32_t dense(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue) {
    const uint32_t in = builder_.width(x);
    const int32_t weight = matrix(name + ".weight", out, in, weights_.encoder(name + ".weight", {out, in}));
    const int32_t bias = vector(name + ".bias", out);
    return builder_.linear(base_ + name, x, weight, bias, epilogue);
  }

  /// A linear layer of an encoder layer, of one or several modules above each other. Where another layer's matrix is shared
  /// (`owner` < `layer`), and has the same values, there is one constant of it; where training has pulled the two apart, each
  /// has its own. Layers that name the same tensors have the same constants.
  int32_t dense(uint32_t layer, Slot slot, int32_t x, const std::vector<Slot>& sources, uint32_t out,
                const EpilogueSpec& epilogue) {
    const uint32_t in = builder_.width(x);
    const std::string part = family_.name(slot), prefix = layer_prefix(config_, layer), name = prefix + part;
    const std::string op = graph_name(config_, layer, slot);
    const auto same = made_.find(name + ".weight");
    if (same != made_.end()) {
      return builder_.linear(op, x, same->second, made_.at(name + ".bias"), epilogue);
    }
    std::vector<Values> weights, biases;
    for (const Slot source : sources) {
      const uint32_t rows = out / static_cast<uint32_t>(sources.size());
      const std::string stored = prefix + family_.name(source);
      weights.push_back(weights_.encoder(stored + ".weight", {rows, in}));
      biases.push_back(weights_.encoder(stored + ".bias", {rows}));
    }
    Values values = concatenate(std::move(weights));
    const auto owner = made_.find(layer_prefix(config_, config_.widths.shared[layer]) + part + ".weight");
    const int32_t weight = owner != made_.end() && builder_.holds(owner->second, values)
                               ? owner->second
                               : matrix(name + ".weight", out, in, std::move(values));
    made_.emplace(name + ".weight", weight);
    const int32_t bias = builder_.vector(base_ + name + ".bias", concatenate(std::move(biases)));
    made_.emplace(name + ".bias", bias);
    return builder_.linear(op, x, weight, bias, epilogue);
  }

  EpilogueSpec layer_norm(uint32_t layer, Slot slot) {
    return norm(layer_prefix(config_, layer) + family_.name(slot), config_.hidden);
  }

  int32_t layer(uint32_t i, int32_t x) {
    const uint32_t heads = config_.widths.heads[i];
    const uint32_t columns = heads * config_.head_width;
    builder_.enter(fb::Part::attention, static_cast<int32_t>(i));
    // Queries, keys and values by one multiplication: their weights one above the other.
    const int32_t qkv = dense(i, Slot::kQkv, x, {Slot::kQuery, Slot::kKey, Slot::kValue}, 3 * columns, {});
    const Heads split = builder_.split_heads(graph_name(config_, i, Slot::kHeads), qkv, heads);
    const int32_t context = builder_.attention(graph_name(config_, i, Slot::kAttention), split);
    EpilogueSpec attended = layer_norm(i, Slot::kAttentionNorm);
    attended.residual = x;
    x = dense(i, Slot::kAttentionOut, context, {Slot::kAttentionOut}, config_.hidden, attended);
    builder_.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
    EpilogueSpec activated;
    activated.activation = config_.activation;
    const int32_t wide = dense(i, Slot::kUp, x, {Slot::kUp}, config_.widths.intermediate[i], activated);
    EpilogueSpec fed = layer_norm(i, Slot::kDownNorm);
    fed.residual = x;
    return dense(i, Slot::kDown, wide, {Slot::kDown}, config_.hidden, fed);
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Family& family_;
  std::string base_;
  std::map<std::string, int32_t> made_;  // constants by the names of their tensors
};

}  // namespace

Encoder import_encoder(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions) {
  return Stack(builder, weights, config).run(positions);
}

}  // namespace bantam::convert
