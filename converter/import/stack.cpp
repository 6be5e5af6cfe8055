#include "import/stack.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "graph/places.h"

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
    if (family_.has(Slot::kDistances)) scores_.distance_bias = distance_bias();
    for (uint32_t i = 0; i < config_.layers; ++i) {
      know_places(i, positions);
      x = feed_forward(i, attention(i, x));
    }
    if (family_.has(Slot::kFinalNorm)) {
      const std::string name = family_.name(Slot::kFinalNorm);
      x = builder_.row(base_ + name, x, norm(name, config_.hidden));
    }
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

  /// A module that this model has without a bias.
  bool lacks_bias(const std::string& name) const {
    return family_.block.optional_biases && !weights_.has_encoder(name + ".bias");
  }
  int32_t bias_of(const std::string& name, uint32_t width) {
    return lacks_bias(name) ? kAbsent : vector(name + ".bias", width);
  }

  EpilogueSpec norm(const std::string& name, uint32_t width) {
    EpilogueSpec epilogue;
    epilogue.norm = fb::NormKind::layer;
    epilogue.gamma = vector(name + ".weight", width);
    epilogue.beta = bias_of(name, width);
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
    if (family_.has(Slot::kPositions)) {
      tables.push_back(
          {table(Slot::kPositions, config_.first_position + config_.positions, config_.first_position, positions),
           fb::IndexSource::positions});
    }
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

  /// Each distance with its bucket's bias.
  int32_t distance_bias() {
    const std::string name = family_.name(Slot::kDistances);
    const uint32_t most = family_.settings.most_distance;
    Values values = weights_.encoder(name, {family_.settings.buckets, config_.heads});
    if (!values.values.empty()) {
      values.values = bucket_biases(values.values, config_.heads, family_.settings.buckets, most);
    }
    builder_.enter(fb::Part::attention);
    return builder_.table(base_ + name, config_.heads, 2 * most + 1, std::move(values));
  }

  int32_t matrix(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
    return builder_.linear_weight(base_ + name, rows, columns, std::move(values));
  }

  int32_t dense(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue) {
    const uint32_t in = builder_.width(x);
    const int32_t weight = matrix(name + ".weight", out, in, weights_.encoder(name + ".weight", {out, in}));
    return builder_.linear(base_ + name, x, weight, bias_of(name, out), epilogue);
  }

  /// A linear layer of an encoder layer, of one or several modules above each other. Where another layer's matrix is shared
  /// (`owner` < `layer`), and has the same values, there is one constant of it; where training has pulled the two apart, each
  /// has its own. Layers that name the same tensors have the same constants.
  int32_t dense(uint32_t layer, Slot slot, int32_t x, const std::vector<Slot>& sources, uint32_t out,
                const EpilogueSpec& epilogue) {
    const uint32_t in = builder_.width(x);
    const std::string part = plain_name(family_, slot), prefix = layer_prefix(config_, layer), name = prefix + part;
    const std::string op = graph_name(config_, layer, slot);
    const auto same = made_.find(name + ".weight");
    if (same != made_.end()) {
      const auto bias = made_.find(name + ".bias");
      return builder_.linear(op, x, same->second, bias == made_.end() ? kAbsent : bias->second, epilogue);
    }
    std::vector<Values> weights, biases;
    for (const Slot source : sources) {
      const uint32_t rows = out / static_cast<uint32_t>(sources.size());
      const std::string stored = prefix + family_.name(source);
      weights.push_back(weights_.encoder(stored + ".weight", {rows, in}));
      if (!lacks_bias(stored)) biases.push_back(weights_.encoder(stored + ".bias", {rows}));
    }
    Values values = concatenate(std::move(weights));
    const auto owner = made_.find(layer_prefix(config_, config_.widths.shared[layer]) + part + ".weight");
    const int32_t weight = owner != made_.end() && builder_.holds(owner->second, values)
                               ? owner->second
                               : matrix(name + ".weight", out, in, std::move(values));
    made_.emplace(name + ".weight", weight);
    if (biases.empty()) return builder_.linear(op, x, weight, kAbsent, epilogue);
    const int32_t bias = builder_.vector(base_ + name + ".bias", concatenate(std::move(biases)));
    made_.emplace(name + ".bias", bias);
    return builder_.linear(op, x, weight, bias, epilogue);
  }

  /// What attention of this layer knows of places.
  void know_places(uint32_t layer, uint32_t positions) {
    if (config_.places.empty()) return;
    const LayerPlaces& places = config_.places[layer];
    scores_.mask = places.window != 0 ? fb::MaskKind::window : fb::MaskKind::none;
    scores_.window = places.window;
    rotary_ = kAbsent;
    if (places.rotary_base == 0) return;
    const auto [found, fresh] = angles_.emplace(places.rotary_base, kAbsent);
    if (fresh) {
      Values values;
      values.values = rotary_angles(positions, config_.head_width, places.rotary_base, places.rotary_step);
      builder_.enter(fb::Part::attention);
      found->second = builder_.table(fmt::format("{}rotary.{}", base_, places.rotary_base), positions,
                                     config_.head_width, std::move(values));
    }
    rotary_ = found->second;
  }

  EpilogueSpec layer_norm(uint32_t layer, Slot slot) {
    return norm(layer_prefix(config_, layer) + family_.name(slot), config_.hidden);
  }

  /// What the part of a layer that `slot` norms reads, where norms stand in front.
  int32_t normed(uint32_t layer, Slot slot, int32_t x) {
    const bool first = layer == 0 && slot == Slot::kAttentionNorm;
    if (!family_.block.norm_first || first) return x;
    return builder_.row(graph_name(config_, layer, slot), x, layer_norm(layer, slot));
  }

  /// The sum of `x` and what a part of a layer makes of it, normed where norms stand behind.
  EpilogueSpec added(uint32_t layer, Slot slot, int32_t x) {
    EpilogueSpec epilogue = family_.block.norm_first ? EpilogueSpec{} : layer_norm(layer, slot);
    epilogue.residual = x;
    return epilogue;
  }

  int32_t attention(uint32_t i, int32_t x) {
    const uint32_t heads = config_.widths.heads[i];
    const uint32_t columns = heads * config_.head_width;
    builder_.enter(fb::Part::attention, static_cast<int32_t>(i));
    const int32_t in = normed(i, Slot::kAttentionNorm, x);
    // Queries, keys and values by one multiplication: their weights one above the other.
    const int32_t qkv = dense(i, Slot::kQkv, in, {Slot::kQuery, Slot::kKey, Slot::kValue}, 3 * columns, {});
    const Heads split = builder_.split_heads(graph_name(config_, i, Slot::kHeads), qkv, heads, rotary_);
    const int32_t context = builder_.attention(graph_name(config_, i, Slot::kAttention), split, scores_);
    return dense(i, Slot::kAttentionOut, context, {Slot::kAttentionOut}, config_.hidden,
                 added(i, Slot::kAttentionNorm, x));
  }

  int32_t feed_forward(uint32_t i, int32_t x) {
    const uint32_t width = config_.widths.intermediate[i];
    builder_.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
    const int32_t in = normed(i, Slot::kDownNorm, x);
    EpilogueSpec activated;
    if (family_.has(Slot::kGate)) activated.gate = dense(i, Slot::kGate, in, {Slot::kGate}, width, {});
    activated.activation = config_.activation;
    const int32_t wide = dense(i, Slot::kUp, in, {Slot::kUp}, width, activated);
    return dense(i, Slot::kDown, wide, {Slot::kDown}, config_.hidden, added(i, Slot::kDownNorm, x));
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Family& family_;
  std::string base_;
  AttentionSpec scores_;                 // what attention of a layer knows of places
  int32_t rotary_ = kAbsent;             // angles of the layer's queries and keys
  std::map<double, int32_t> angles_;     // by the base of rotary positions
  std::map<std::string, int32_t> made_;  // constants by the names of their tensors
};

}  // namespace

Encoder import_encoder(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions) {
  return Stack(builder, weights, config).run(positions);
}

}  // namespace bantam::convert
