#include "network/stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "graph/places.h"
#include "network/blocks/chunk_attention.h"
#include "network/blocks/entities.h"
#include "network/blocks/experts.h"
#include "network/blocks/gated_recurrence.h"
#include "network/blocks/linear_attention.h"
#include "network/blocks/modules.h"
#include "network/blocks/recurrent.h"
#include "network/blocks/relative.h"
#include "network/blocks/span_convolution.h"
#include "network/blocks/xielu.h"
#include "network/embeddings.h"

namespace bantam::convert {
namespace {

class Stack {
 public:
  Stack(Builder& builder, Weights& weights, const EncoderConfig& config, const Beside& beside, uint32_t positions)
      : builder_(builder),
        weights_(weights),
        config_(config),
        beside_(beside),
        modules_(builder, weights, config),
        entities_(builder, weights, config),
        long_(builder, weights, config, beside.long_texts, positions),
        by_sums_(builder, weights, config, positions),
        by_chunks_(builder, config, positions),
        positions_(positions),
        family_(*config.family),
        base_(std::string(config.family->base) + "."),
        side_(base_ + (beside.phase == fb::Phase::source ? "encoder."
                       : beside.source != nullptr        ? "decoder."
                                                         : "")) {}

  Encoder run() {
    Encoder out;
    out.base = base_;
    builder_.enter(beside_.phase);
    int32_t x = import_embeddings(builder_, weights_, config_, beside_, modules_, side_, positions_, &out);
    entities_.embed();
    long_.begin();
    const std::string distances = family_.has(Slot::kDistances) ? family_.name(Slot::kDistances) : "";
    const bool own_distances = distances.find("{}") != std::string::npos;
    if (!distances.empty() && !own_distances) scores_.distance_bias = distance_bias(distances);
    if (family_.settings.slopes) scores_.slopes = slopes();
    scores_.mask = config_.mask;
    scores_.scale = config_.score_scale;
    scores_.soft_cap = config_.soft_cap;
    RelativeConstants relative(builder_, weights_, config_, positions_);
    const uint32_t layers = family_.own.add != nullptr ? 0 : config_.layers;
    int32_t other = x;  // of reversible layers: the stream that attention adds to
    for (uint32_t i = 0; i < layers; ++i) {
      know_places(i, positions_);
      if (own_distances) scores_.distance_bias = distance_bias(fmt::format(fmt::runtime(distances), i));
      relative.add(i, scores_);
      const int32_t in = x;
      const int32_t attended = attention(i, in, other);
      entities_.attend(i);
      x = feed_forward(i, beside_.source == nullptr ? attended : cross_attention(i, attended), in);
      other = attended;
      if (i == 0 && config_.convolution != 0) x = convolution(in, x);
    }
    if (family_.has(Slot::kFinalNorm)) {
      const std::string name = family_.name(Slot::kFinalNorm);
      const uint32_t columns = extent_of(config_, axes_of(family_, Slot::kFinalNorm).rows);
      const EpilogueSpec last = last_norm(name, columns);
      x = family_.block.reversible ? builder_.join(base_ + name, other, x, last) : builder_.row(base_ + name, x, last);
      out.gamma = last.gamma;
      out.beta = last.beta;
    }
    if (has_role(config_, Slot::kLastProjection)) {
      x = modules_.dense(family_.name(Slot::kLastProjection), x, config_.embedding, {});
    }
    builder_.enter(fb::Phase::main);
    out.hidden = x;
    return out;
  }

 private:
  EpilogueSpec last_norm(const std::string& name, uint32_t columns) {
    EpilogueSpec epilogue = modules_.norm(name, columns);
    if (beside_.last_scale == 1) return epilogue;
    Values gamma = modules_.gammas(name + ".weight", columns);
    for (float& value : gamma.values) value *= beside_.last_scale;
    epilogue.gamma = builder_.vector(base_ + name + ".scaled", std::move(gamma));
    return epilogue;
  }

  /// Adds a convolution over the tokens of `x` to `sum`.
  int32_t convolution(int32_t x, int32_t sum) {
    const std::string name = family_.name(Slot::kConvolution);
    const uint32_t hidden = config_.hidden, count = config_.convolution;
    Values weight = weights_.encoder(name + ".weight", {hidden, hidden, count});
    std::vector<float> by_token(weight.values.size());  // [out][in][token] as [out][token][in]
    for (size_t at = 0; at < by_token.size(); ++at) {
      const size_t token = at % count, in = at / count % hidden, out = at / count / hidden;
      by_token[(out * count + token) * hidden + in] = weight.values[at];
    }
    weight.values = std::move(by_token);
    const int32_t matrix = builder_.linear_weight(base_ + name + ".weight", hidden, count * hidden, std::move(weight));
    EpilogueSpec added = modules_.norm(family_.name(Slot::kConvolutionNorm), hidden);
    added.activation = config_.convolution_activation;
    added.residual = sum;
    const int32_t tokens = builder_.unfold(base_ + name + ".tokens", x, count / 2, count / 2);
    return builder_.linear(base_ + name, tokens, matrix, modules_.bias_of(name, hidden), added);
  }

  /// Expands biases of buckets to one column per distance.
  int32_t distance_bias(const std::string& name) {
    const uint32_t most = config_.most_distance;
    Values values = weights_.encoder(name, {config_.buckets, config_.heads});
    if (!values.values.empty()) {
      values.values = bucket_biases(values.values, config_.heads, config_.buckets, most,
                                    config_.causal ? Sides::kBefore : Sides::kBoth);
    }
    builder_.enter(fb::Part::attention);
    return builder_.table(base_ + name, config_.heads, 2 * most + 1, std::move(values));
  }

  int32_t slopes() {
    Values values;
    values.values = alibi_slopes(config_.heads);
    builder_.enter(fb::Part::attention);
    return builder_.vector(base_ + "slopes", std::move(values));
  }

  /// The values of a module's weight or bias as the graph needs them: rows of queries and keys in the order of rotary
  /// halves, outputs that join the residual multiplied by the settings' factors.
  Values fitted(uint32_t layer, Slot source, Values values, uint32_t columns) {
    const bool adds = source == Slot::kAttentionOut || source == Slot::kDown || source == Slot::kSharedDown;
    const Slot factors = source == Slot::kAttentionOut ? Slot::kAttentionFactors : Slot::kDownFactors;
    const bool turns = family_.block.neighbours && (source == Slot::kQuery || source == Slot::kKey);
    const bool times = (adds && (config_.added_factor != 1 || family_.has(factors))) ||
                       (source == Slot::kQuery && config_.summed.query_factor != 1) ||
                       (source == Slot::kKey && config_.summed.key_factor != 1);
    if (!times && !turns) return values;
    hold_values(values);
    for (float& value : values.values) {
      if (adds) value *= config_.added_factor;
      if (source == Slot::kQuery) value *= config_.summed.query_factor;
      if (source == Slot::kKey) value *= config_.summed.key_factor;
    }
    if (adds && family_.has(factors) && !values.values.empty()) {
      const std::string name = layer_prefix(config_, layer) + family_.name(factors);
      const auto rows = static_cast<uint32_t>(values.values.size() / columns);
      const Values by = weights_.encoder(name, {rows});
      for (size_t i = 0; i < values.values.size() && !by.values.empty(); ++i)
        values.values[i] *= by.values[i / columns];
    }
    if (!turns || values.values.empty() || config_.places[layer].turned == 0) return values;
    const uint32_t heads = source == Slot::kQuery ? config_.widths.heads[layer] : kv_heads_of(config_, layer);
    halves_of_neighbours(values.values, heads, columns, config_.places[layer].turned);
    return values;
  }

  /// The matrix `name`. A grouped convolution over single tokens, [rows, columns of a group, 1], becomes a matrix with
  /// zeros between its groups.
  Values linear_weight(Slot slot, const std::string& name, uint32_t rows, uint32_t columns) {
    const auto groups = config_.column_groups.find(slot);
    constexpr size_t kOfConvolution = 3;
    if (groups == config_.column_groups.end() || weights_.encoder_extents(name) != kOfConvolution)
      return weights_.encoder_matrix(name, rows, columns);
    const uint32_t count = groups->second, width = columns / count;
    if (rows % count != 0 || columns % count != 0) return weights_.encoder(name, {rows, columns});
    Values values = weights_.encoder(name, {rows, width, 1});
    if (values.values.empty()) return values;
    std::vector<float> whole(size_t{rows} * columns);
    for (uint32_t row = 0; row < rows; ++row) {
      const size_t first = row / (rows / count) * width;
      std::copy_n(values.values.begin() + static_cast<std::ptrdiff_t>(size_t{row} * width), width,
                  whole.begin() + static_cast<std::ptrdiff_t>(size_t{row} * columns + first));
    }
    values.values = std::move(whole);
    return values;
  }

  /// Adds a linear layer made of one or several modules, concatenated by output rows. If the layer shares another
  /// layer's matrix (`owner` < `layer`) and the values are equal, both use one constant; if training has made them
  /// differ, each has its own. Layers that name the same tensors share constants.
  int32_t dense(uint32_t layer, Slot slot, int32_t x, const std::vector<std::pair<Slot, uint32_t>>& sources,
                const EpilogueSpec& epilogue) {
    const uint32_t in = builder_.width(x);
    uint32_t out = 0;
    for (const auto& [source, rows] : sources) out += rows;
    const std::string part = plain_name(family_, slot), prefix = layer_prefix(config_, layer), name = prefix + part;
    const std::string op = graph_name(config_, layer, slot);
    const int32_t same = modules_.made_of(name + ".weight");
    if (same != kAbsent) return builder_.linear(op, x, same, modules_.made_of(name + ".bias"), epilogue);
    std::vector<Values> weights, biases;
    bool biased = false;
    for (const auto& [source, rows] : sources) {
      const std::string stored = prefix + family_.name(source);
      weights.push_back(fitted(layer, source, linear_weight(source, stored + ".weight", rows, in), in));
      Values bias;
      if (modules_.lacks_bias(stored)) {
        bias.values.assign(rows, 0.0F);
      } else {
        bias = fitted(layer, source, weights_.encoder(stored + ".bias", {rows}), 1);
        biased = true;
      }
      if (source == Slot::kQuery && family_.has(Slot::kQueryBias)) {  // the bias for products with keys
        const Values more = take_by_head(weights_, config_, layer, Slot::kQueryBias);
        for (size_t row = 0; row < more.values.size() && row < bias.values.size(); ++row)
          bias.values[row] += more.values[row];
        biased = true;
      }
      biases.push_back(std::move(bias));
    }
    Values values = concatenate(std::move(weights));
    const int32_t owner = modules_.made_of(layer_prefix(config_, config_.widths.shared[layer]) + part + ".weight");
    const int32_t weight = owner != kAbsent && builder_.holds(owner, values)
                               ? owner
                               : modules_.matrix(name + ".weight", out, in, std::move(values));
    modules_.remember(name + ".weight", weight);
    if (!biased) return builder_.linear(op, x, weight, kAbsent, epilogue);
    const int32_t bias = builder_.vector(base_ + name + ".bias", concatenate(std::move(biases)));
    modules_.remember(name + ".bias", bias);
    return builder_.linear(op, x, weight, bias, epilogue);
  }

  /// Sets the mask, window and rotary positions of this layer's attention.
  void know_places(uint32_t layer, uint32_t positions) {
    if (config_.places.empty()) return;
    const LayerPlaces& places = config_.places[layer];
    scores_.mask = config_.causal    ? places.sees_all ? fb::MaskKind::causal : fb::MaskKind::causal_window
                   : places.sees_all ? fb::MaskKind::none
                                     : fb::MaskKind::window;
    scores_.window = places.window;
    rotary_ = kAbsent;
    if (places.rotary.base == 0) return;
    for (const auto& [rotary, table] : angles_) {
      if (rotary == places.rotary) rotary_ = table;
    }
    if (rotary_ != kAbsent) return;
    Values values = angles(positions, places);
    builder_.enter(fb::Part::attention);
    const std::string others = angles_.empty() ? "" : fmt::format(".{}", angles_.size());
    rotary_ = builder_.table(fmt::format("{}rotary.{}{}", base_, places.rotary.base, others), positions, places.turned,
                             std::move(values));
    angles_.emplace_back(places.rotary, rotary_);
  }

  /// Cosines and sines of angles by position, from the file or from the settings.
  Values angles(uint32_t positions, const LayerPlaces& places) {
    const char* table = family_.settings.rotary.table;
    if (table == nullptr || !weights_.has_encoder(table)) {
      Values values;
      values.values = rotary_angles(positions, places.turned, places.rotary);
      return values;
    }
    Values values = weights_.encoder(table, {config_.positions, places.turned}, positions);
    const auto half = static_cast<std::ptrdiff_t>(places.turned / 2);
    for (auto row = values.values.begin(); row != values.values.end(); row += 2 * half)
      std::rotate(row, row + half, row + 2 * half);
    return values;
  }

  /// Queries, keys and values from matrices that are stored as [inputs, heads, head width]. The bias of queries is the
  /// one for products with keys.
  int32_t by_head(uint32_t layer, int32_t x) {
    const uint32_t columns = config_.heads * config_.head_width, in = config_.hidden;
    const std::string op = graph_name(config_, layer, Slot::kQkv);
    std::vector<Values> matrices;
    for (const Slot slot : {Slot::kQuery, Slot::kKey, Slot::kValue}) {
      Values stored = take_by_head(weights_, config_, layer, slot);
      stored.values = turned(stored.values, in);
      matrices.push_back(std::move(stored));
    }
    Values bias = take_by_head(weights_, config_, layer, Slot::kQueryBias);
    if (!bias.values.empty()) bias.values.resize(size_t{3} * columns);
    const int32_t matrix = builder_.linear_weight(op + ".weight", 3 * columns, in, concatenate(std::move(matrices)));
    return builder_.linear(op, x, matrix, builder_.vector(op + ".bias", std::move(bias)), {});
  }

  /// Adds the output matrix over the heads' contexts of a layer; it is stored by head, too.
  int32_t of_heads(uint32_t layer, int32_t x, const EpilogueSpec& epilogue) {
    const std::string op = graph_name(config_, layer, Slot::kAttentionOut);
    const uint32_t columns = config_.heads * config_.head_width;
    const int32_t matrix = builder_.linear_weight(op + ".weight", config_.hidden, columns,
                                                  take_by_head(weights_, config_, layer, Slot::kAttentionOut));
    return builder_.linear(op, x, matrix, kAbsent, epilogue);
  }

  /// Concatenated queries, keys and values; queries and keys are put in the order of rotary halves.
  Values halved(uint32_t layer, Values values, uint32_t heads, uint32_t kv_heads, uint32_t width) {
    const uint32_t turned = config_.places[layer].turned;
    if (values.values.empty() || turned == 0) return values;
    auto begin = values.values.begin();
    for (const uint32_t count : {heads, kv_heads}) {
      const auto end = begin + static_cast<std::ptrdiff_t>(size_t{count} * config_.head_width * width);
      std::vector<float> rows(begin, end);
      halves_of_neighbours(rows, count, width, turned);
      begin = std::copy(rows.begin(), rows.end(), begin);
    }
    return values;
  }

  /// Queries, keys and values that a file stores in one matrix, in groups of queries and the keys and values that they
  /// share.
  int32_t unmixed(uint32_t layer, int32_t x, uint32_t heads, uint32_t kv_heads) {
    const uint32_t value_first = family_.block.value_first_groups, in = config_.hidden;
    // CodeGen's groups are groups of columns, which need not be whole heads.
    const uint32_t columns = heads * config_.head_width, shared = kv_heads * config_.head_width;
    const uint32_t groups = family_.block.together                           ? 1
                            : value_first != 0 && columns % value_first == 0 ? value_first
                                                                             : kv_heads;
    const uint32_t queries = columns / groups, keys = shared / groups, all = groups * (queries + 2 * keys);
    const std::string name = layer_prefix(config_, layer) + family_.name(Slot::kQueriesKeysValues),
                      op = graph_name(config_, layer, Slot::kQkv);
    const auto apart = [&](Values values, uint32_t width) {
      std::vector<float> rows;
      rows.reserve(values.values.size());
      for (uint32_t part = 0; part < 3 && !values.values.empty(); ++part) {
        const bool last = (part == 1) == (value_first != 0);  // of a group
        const size_t first = part == 0 ? 0 : last ? queries + keys : queries;
        const size_t count = (part == 0 ? size_t{queries} : size_t{keys}) * width;
        for (size_t group = 0; group < groups; ++group) {
          const auto begin = values.values.begin() +
                             static_cast<std::ptrdiff_t>((group * (queries + 2 * size_t{keys}) + first) * width);
          rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
        }
      }
      values.values = std::move(rows);
      return family_.block.neighbours ? halved(layer, std::move(values), heads, kv_heads, width) : std::move(values);
    };
    Values weight = apart(weights_.encoder(name + ".weight", {all, in}), in);
    int32_t bias = kAbsent;
    if (family_.has(Slot::kQueryBias)) {
      const std::string prefix = layer_prefix(config_, layer);
      Values zeros;
      zeros.values.assign(columns, 0.0F);
      std::vector<Values> biases;
      biases.push_back(weights_.encoder(prefix + family_.name(Slot::kQueryBias), {columns}));
      biases.push_back(std::move(zeros));
      biases.push_back(weights_.encoder(prefix + family_.name(Slot::kValueBias), {columns}));
      bias = builder_.vector(op + ".bias", concatenate(std::move(biases)));
    } else if (!modules_.lacks_bias(name)) {
      bias = builder_.vector(op + ".bias", apart(weights_.encoder(name + ".bias", {all}), 1));
    }
    return builder_.linear(op, x, builder_.linear_weight(op + ".weight", all, in, std::move(weight)), bias, {});
  }

  EpilogueSpec layer_norm(uint32_t layer, Slot slot) {
    return modules_.norm(layer_prefix(config_, layer) + family_.name(slot),
                         extent_of(config_, axes_of(family_, slot).rows));
  }

  /// The input of an attention or feed-forward layer, normed by `slot` if norms come first.
  int32_t normed(uint32_t layer, Slot slot, int32_t x) {
    const bool first = layer == 0 && slot == Slot::kAttentionNorm && !family_.block.norm_before_all;
    if (!family_.block.norm_first || first || !family_.has(slot)) return x;
    return builder_.row(graph_name(config_, layer, slot), x, layer_norm(layer, slot));
  }

  /// `x` of `columns` columns, normed if the family has `slot`.
  int32_t normed_alone(uint32_t layer, Slot slot, int32_t x, uint32_t columns) {
    if (!family_.has(slot)) return x;
    const std::string name = layer_prefix(config_, layer) + family_.name(slot);
    return builder_.row(graph_name(config_, layer, slot), x, modules_.norm(name, columns));
  }

  /// An epilogue that adds `x`, followed by the norm `slot` if norms come last.
  EpilogueSpec added(uint32_t layer, Slot slot, int32_t x) {
    EpilogueSpec epilogue = family_.block.norm_first ? EpilogueSpec{} : layer_norm(layer, slot);
    epilogue.residual = x;
    return epilogue;
  }

  /// Adds SSRU cells over the layer's tokens instead of attention.
  int32_t simple_recurrence(uint32_t i, int32_t x) {
    builder_.enter(fb::Part::recurrent, static_cast<int32_t>(i));
    const int32_t in = normed(i, Slot::kAttentionNorm, x);
    const std::string prefix = layer_prefix(config_, i);
    const int32_t states =
        import_ssru(builder_, weights_, prefix + family_.name(Slot::kForget), prefix + family_.name(Slot::kCandidate),
                    graph_name(config_, i, Slot::kGates), graph_name(config_, i, Slot::kCells), in);
    EpilogueSpec after = added(i, Slot::kAttentionNorm, x);
    after.activation = fb::ActivationKind::relu;
    return builder_.row(graph_name(config_, i, Slot::kAttentionNorm), states, after);
  }

  /// Adds a gated convolution over the layer's tokens and those before them instead of attention.
  int32_t short_convolution(uint32_t i, int32_t x) {
    const uint32_t columns = config_.hidden, taps = config_.short_taps;
    builder_.enter(fb::Part::attention, static_cast<int32_t>(i));
    const int32_t in = normed(i, Slot::kAttentionNorm, x);
    const bool recurs = family_.has(Slot::kStateRates);
    EpilogueSpec product, gate, gated;
    if (family_.has(Slot::kShortGate)) {
      product.gate = dense(i, Slot::kShortGate, in, {{Slot::kShortGate, columns}}, {});
    }
    const int32_t rows = dense(i, Slot::kShortInput, in, {{Slot::kShortInput, columns}}, product);
    if (recurs) gate.activation = config_.activation;
    gated.gate = dense(i, Slot::kShortOutGate, in, {{Slot::kShortOutGate, columns}}, gate);
    const int32_t filters = filtered(i, rows, taps, recurs ? EpilogueSpec{} : gated);
    const int32_t out = recurs ? builder_.row(graph_name(config_, i, Slot::kStateRates) + ".gated",
                                              import_gated_recurrence(builder_, weights_, config_, i, filters), gated)
                               : filters;
    return dense(i, Slot::kShortOut, out, {{Slot::kShortOut, config_.inner}}, added(i, Slot::kAttentionNorm, x));
  }

  /// The filters of layer i over rows of `x` and the `taps` - 1 before each. A bias is added before `epilogue`.
  int32_t filtered(uint32_t i, int32_t x, uint32_t taps, const EpilogueSpec& epilogue) {
    const uint32_t columns = builder_.width(x);
    const std::string name = layer_prefix(config_, i) + family_.name(Slot::kShortTaps),
                      op = graph_name(config_, i, Slot::kShortTaps);
    Values weights = weights_.encoder(name + ".weight", {columns, 1, taps});
    weights.values = turned(weights.values, columns);
    if (modules_.lacks_bias(name)) return builder_.short_convolution(op, x, taps - 1, std::move(weights), epilogue);
    const EpilogueSpec biased = plus_vector(builder_, op, weights_.encoder(name + ".bias", {columns}));
    const int32_t out = builder_.short_convolution(op, x, taps - 1, std::move(weights), biased);
    return epilogue.gate < 0 ? out : builder_.row(op + ".gated", out, epilogue);
  }

  /// `other`: the stream to which reversible layers add the result.
  int32_t attention(uint32_t i, int32_t x, int32_t other) {
    if (family_.has(Slot::kForget)) return simple_recurrence(i, x);
    if (!config_.attends.empty() && !config_.attends[i]) return short_convolution(i, x);
    const uint32_t heads = config_.widths.heads[i], kv_heads = kv_heads_of(config_, i);
    const uint32_t columns = heads * config_.head_width, kv_columns = kv_heads * config_.head_width;
    builder_.enter(fb::Part::attention, static_cast<int32_t>(i));
    const int32_t in = normed(i, Slot::kAttentionNorm, narrowed(i, x));
    attended_ = in;
    if (config_.summed.features != 0) {
      const int32_t both = dense(i, Slot::kKeysValues, in, {{Slot::kKey, columns}, {Slot::kValue, columns}}, {});
      const int32_t queries = dense(i, Slot::kQuery, in, {{Slot::kQuery, columns}}, {});
      const int32_t summed = by_sums_.attend(i, queries, both);
      return dense(i, Slot::kAttentionOut, summed, {{Slot::kAttentionOut, config_.inner}},
                   added(i, Slot::kAttentionNorm, x));
    }
    if (!config_.chunked.hashed.empty()) {
      std::vector<std::pair<Slot, uint32_t>> parts = {{Slot::kQueryKey, columns}, {Slot::kValue, columns}};
      if (!config_.chunked.hashed[i]) parts = {{Slot::kQuery, columns}, {Slot::kKey, columns}, {Slot::kValue, columns}};
      const int32_t context = by_chunks_.attend(i, dense(i, Slot::kQkv, in, parts, {}));
      return dense(i, Slot::kAttentionOut, context, {{Slot::kAttentionOut, config_.inner}},
                   added(i, Slot::kAttentionNorm, other));
    }
    // One multiplication computes queries, keys and values: their weights are concatenated by rows.
    const int32_t qkv =
        config_.narrow_scores                   ? through_bottleneck(i, x, columns)
        : family_.has(Slot::kQueriesKeysValues) ? unmixed(i, in, heads, kv_heads)
        : family_.block.by_head
            ? by_head(i, in)
            : dense(i, Slot::kQkv, in, {{Slot::kQuery, columns}, {Slot::kKey, kv_columns}, {Slot::kValue, kv_columns}},
                    {});
    TurnSpec turn{rotary_, kAbsent, config_.epsilon};
    turn.norms_behind = family_.block.norms_behind;
    if (family_.has(Slot::kSinks)) {
      const std::string sinks = layer_prefix(config_, i) + family_.name(Slot::kSinks);
      scores_.sinks = builder_.vector(graph_name(config_, i, Slot::kSinks), weights_.encoder(sinks, {heads}));
    }
    const bool normed_heads = config_.head_norms && !(family_.block.plain_head_norms && rotary_ == kAbsent);
    if (family_.has(Slot::kQueryNorm) && normed_heads) turn.norms = query_norms(i, columns, kv_columns);
    turn.each_head = family_.block.head_norms;
    turn.norm = family_.block.rms_norms ? fb::NormKind::rms : fb::NormKind::layer;
    const Heads split = builder_.split_heads(graph_name(config_, i, Slot::kHeads), qkv, heads, kv_heads, turn);
    int32_t context = long_.attend(i, in, split, scores_);
    if (family_.has(Slot::kSpanValues)) {
      const int32_t convolved = import_span_convolution(
          builder_, weights_, config_, i, in, builder_.slice(graph_name(config_, i, Slot::kQuery), qkv, 0, columns));
      context = builder_.join(graph_name(config_, i, Slot::kSpanValues) + ".beside", context, convolved, {});
    }
    if (config_.value_taps != 0) context = with_convolved(i, qkv, context, heads);
    if (family_.has(Slot::kAttentionGate)) context = gated(i, in, context, columns);
    context = normed_alone(i, Slot::kContextNorm, context, columns);
    const EpilogueSpec after = added(i, Slot::kAttentionNorm, config_.bottlenecks ? in : x);
    if (family_.block.by_head) return of_heads(i, context, after);
    const int32_t out = add(i, Slot::kAttentionOut, Slot::kAttentionOutNorm, context, after);
    if (!family_.has(Slot::kSumNorm)) return out;
    return builder_.row(graph_name(config_, i, Slot::kSumNorm), out, added(i, Slot::kSumNorm, x));
  }

  /// Multiplies `context` by sigmoid gates that are computed from the attention's input `in`.
  int32_t gated(uint32_t i, int32_t in, int32_t context, uint32_t columns) {
    EpilogueSpec sigmoid, product;
    sigmoid.activation = fb::ActivationKind::sigmoid;
    product.gate = dense(i, Slot::kAttentionGate, in, {{Slot::kAttentionGate, columns}}, sigmoid);
    return builder_.row(graph_name(config_, i, Slot::kAttentionGate) + ".product", context, product);
  }

  /// Adds to `context` a convolution over tokens of the values, which follow queries and keys in `qkv`.
  int32_t with_convolved(uint32_t i, int32_t qkv, int32_t context, uint32_t heads) {
    const uint32_t columns = heads * config_.head_width, taps = config_.value_taps;
    const std::string name = layer_prefix(config_, i) + family_.name(Slot::kValueConvolution),
                      op = graph_name(config_, i, Slot::kValueConvolution);
    Values weights = weights_.encoder(name + ".weight", {heads, 1, taps, 1});
    std::vector<float> by_tap;
    for (uint32_t tap = 0; tap < taps && !weights.values.empty(); ++tap) {
      for (uint32_t column = 0; column < columns; ++column)
        by_tap.push_back(weights.values[size_t{column / config_.head_width} * taps + tap]);
    }
    weights.values = std::move(by_tap);
    const int32_t values = builder_.slice(op + ".values", qkv, 2 * columns, columns);
    EpilogueSpec sum;
    sum.residual = context;
    return builder_.row(op + ".added", builder_.depthwise(op, values, taps / 2, taps / 2, std::move(weights)), sum);
  }

  /// Adds the attention of layer i to the source. The pass over the source computes its keys and values once.
  int32_t cross_attention(uint32_t i, int32_t x) {
    const uint32_t heads = config_.heads, columns = heads * config_.head_width;
    const auto layer = static_cast<int32_t>(i);
    const std::string name = graph_name(config_, i, Slot::kCrossAttention);
    builder_.enter(fb::Part::attention, layer);
    const int32_t in = family_.block.norm_first
                           ? builder_.row(graph_name(config_, i, Slot::kCrossNorm), x, layer_norm(i, Slot::kCrossNorm))
                           : x;
    const int32_t queries = builder_.split_queries(
        name + ".heads", dense(i, Slot::kCrossQuery, in, {{Slot::kCrossQuery, columns}}, {}), heads);
    builder_.enter(fb::Phase::source);
    builder_.enter(fb::Part::attention, layer);
    const int32_t both = dense(i, Slot::kCrossKeysValues, beside_.source->hidden,
                               {{Slot::kCrossKey, columns}, {Slot::kCrossValue, columns}}, {});
    const Heads states = builder_.split_states(name + ".states", both, heads);
    builder_.enter(fb::Phase::main);
    builder_.enter(fb::Part::attention, layer);
    AttentionSpec all;
    all.scale = config_.score_scale;
    const int32_t context = builder_.attention(name, {queries, states.k, states.v}, all);
    return dense(i, Slot::kCrossOut, context, {{Slot::kCrossOut, config_.hidden}}, added(i, Slot::kCrossNorm, x));
  }

  /// Applies `slot` to x and adds the residual of `after`; the family may have a norm before that sum.
  int32_t add(uint32_t i, Slot slot, Slot norm_slot, int32_t x, const EpilogueSpec& after) {
    const std::vector<std::pair<Slot, uint32_t>> sources = {{slot, config_.inner}};
    if (!family_.has(norm_slot)) return dense(i, slot, x, sources, after);
    return builder_.row(graph_name(config_, i, norm_slot), dense(i, slot, x, sources, layer_norm(i, norm_slot)), after);
  }

  /// Factors and biases of the norms of queries and keys of layer i, with the given numbers of columns.
  int32_t query_norms(uint32_t i, uint32_t columns, uint32_t key_columns) {
    const bool each = family_.block.head_norms;
    const uint32_t widest = each ? config_.head_width : std::max(columns, key_columns);
    const uint32_t padded = (widest + 15) / 16 * 16;
    std::vector<Values> rows;
    for (const Slot slot : {Slot::kQueryNorm, Slot::kKeyNorm}) {
      const uint32_t count = each ? config_.head_width : slot == Slot::kQueryNorm ? columns : key_columns;
      const std::string name = layer_prefix(config_, i) + family_.name(slot);
      Values ones, none;
      ones.values.assign(count, 1.0F);
      none.values.assign(count, 0.0F);
      rows.push_back(family_.is_plain(slot) ? std::move(ones) : modules_.gammas(name + ".weight", count));
      const bool bare = family_.block.rms_norms || modules_.lacks_bias(name);
      rows.push_back(bare ? none : weights_.encoder(name + ".bias", {count}));
    }
    for (Values& row : rows) {
      if (!row.values.empty()) row.values.resize(padded);
    }
    return builder_.table(graph_name(config_, i, Slot::kQueryNorm) + ".norms", 4, padded, concatenate(std::move(rows)));
  }

  /// `x` after the bottleneck that precedes layer i.
  int32_t narrowed(uint32_t i, int32_t x) {
    if (!config_.bottlenecks) return x;
    return modules_.dense(layer_prefix(config_, i) + family_.name(Slot::kNarrow), x, config_.inner,
                          layer_norm(i, Slot::kNarrowNorm));
  }

  /// Queries, keys and values of layer i if queries and keys have their own bottleneck. The bottleneck is linear, norm
  /// included, so its matrix is folded into theirs, and one multiplication computes all three.
  int32_t through_bottleneck(uint32_t i, int32_t x, uint32_t columns) {
    const uint32_t hidden = config_.hidden, inner = config_.inner;
    const std::string prefix = layer_prefix(config_, i);
    const auto take = [&](Slot slot, const char* kind, const std::vector<uint32_t>& shape) {
      return weights_.encoder(prefix + family_.name(slot) + kind, shape);
    };
    const Values narrow = take(Slot::kNarrowScores, ".weight", {inner, hidden});
    const Values shift = take(Slot::kNarrowScores, ".bias", {inner});
    const Values gamma = take(Slot::kNarrowScoresNorm, ".weight", {inner});
    const Values beta = take(Slot::kNarrowScoresNorm, ".bias", {inner});
    std::vector<Values> weights, biases;
    for (const Slot slot : {Slot::kQuery, Slot::kKey}) {
      Values weight = take(slot, ".weight", {columns, inner}), bias = take(slot, ".bias", {columns});
      const bool all = !narrow.values.empty() && !shift.values.empty() && !gamma.values.empty() &&
                       !beta.values.empty() && !weight.values.empty() && !bias.values.empty();
      if (all) {
        std::vector<float> product;
        product.reserve(size_t{columns} * hidden);
        for (size_t row = 0; row < columns; ++row) {
          std::vector<double> sums(hidden);
          double constant = double{bias.values[row]};
          for (size_t k = 0; k < inner; ++k) {
            const double w = double{weight.values[row * inner + k]}, scaled = w * double{gamma.values[k]};
            constant += scaled * double{shift.values[k]} + w * double{beta.values[k]};
            for (size_t c = 0; c < hidden; ++c) sums[c] += scaled * double{narrow.values[k * hidden + c]};
          }
          for (const double sum : sums) product.push_back(static_cast<float>(sum));
          bias.values[row] = static_cast<float>(constant);
        }
        weight.values = std::move(product);
        weight.source.insert(weight.source.end(), narrow.source.begin(), narrow.source.end());
      }
      weights.push_back(std::move(weight));
      biases.push_back(std::move(bias));
    }
    weights.push_back(take(Slot::kValue, ".weight", {columns, hidden}));
    biases.push_back(take(Slot::kValue, ".bias", {columns}));
    const std::string op = graph_name(config_, i, Slot::kQkv);
    const int32_t weight = builder_.linear_weight(op + ".weight", 3 * columns, hidden, concatenate(std::move(weights)));
    return builder_.linear(op, x, weight, builder_.vector(op + ".bias", concatenate(std::move(biases))), {});
  }

  /// The feed-forward layers before layer i's last one.
  int32_t stacked(uint32_t i, int32_t x, uint32_t width) {
    const auto name = [&](Slot slot, uint32_t number) {
      return layer_prefix(config_, i) + fmt::format(fmt::runtime(family_.name(slot)), number);
    };
    for (uint32_t k = 0; k + 1 < config_.feed_forwards; ++k) {
      EpilogueSpec activated;
      activated.activation = config_.activation;
      const int32_t wide = modules_.dense(name(Slot::kStackUp, k), x, width, activated);
      EpilogueSpec added = modules_.norm(name(Slot::kStackDownNorm, k), config_.inner);
      added.residual = x;
      x = modules_.dense(name(Slot::kStackDown, k), wide, config_.inner, added);
    }
    return x;
  }

  /// Adds the activated sum of the contributions of tokens and entities.
  int32_t with_entities(uint32_t i, int32_t x, uint32_t width, const EpilogueSpec& activated) {
    EpilogueSpec sum;
    sum.residual = entities_.up(i, width);
    const int32_t both = dense(i, Slot::kUp, x, {{Slot::kUp, width}}, sum);
    return builder_.row(graph_name(config_, i, Slot::kUp) + ".activation", both, activated);
  }

  /// Adds to `x` the outputs of experts for `in`: of the shared ones, and of those that are chosen for a row.
  int32_t experts(uint32_t i, int32_t in, int32_t x) {
    const bool shared = has_role(config_, Slot::kSharedUp, i);
    if (!family_.has(Slot::kDownOutNorm)) {
      const int32_t sum = shared ? shared_experts(i, in, x) : x;
      return import_experts(builder_, weights_, config_, i, in, added(i, Slot::kDownNorm, sum));
    }
    EpilogueSpec norm = layer_norm(i, Slot::kDownOutNorm);
    if (shared) norm.residual = shared_experts(i, in, kAbsent);
    const int32_t sum = import_experts(builder_, weights_, config_, i, in, norm);
    return builder_.row(graph_name(config_, i, Slot::kDownOutNorm), sum, added(i, Slot::kDownNorm, x));
  }

  /// Adds the output of the shared experts for `in` to `x`, if there is an `x`.
  int32_t shared_experts(uint32_t i, int32_t in, int32_t x) {
    const uint32_t width = config_.experts.shared;
    EpilogueSpec activated;
    if (family_.has(Slot::kSharedGate))
      activated.gate = dense(i, Slot::kSharedGate, in, {{Slot::kSharedGate, width}}, {});
    activated.activation = config_.activation;
    const int32_t wide = dense(i, Slot::kSharedUp, in, {{Slot::kSharedUp, width}}, activated);
    const std::vector<std::pair<Slot, uint32_t>> down = {{Slot::kSharedDown, config_.hidden}};
    EpilogueSpec sum;
    sum.residual = x;
    if (!family_.has(Slot::kSharedScale)) return dense(i, Slot::kSharedDown, wide, down, sum);
    // The scale has one output; its row is repeated for each column that it multiplies.
    const std::string name = layer_prefix(config_, i) + family_.name(Slot::kSharedScale);
    Values scale = weights_.encoder(name + ".weight", {1, config_.hidden});
    std::vector<float> rows;
    for (uint32_t row = 0; row < config_.hidden && !scale.values.empty(); ++row)
      rows.insert(rows.end(), scale.values.begin(), scale.values.end());
    scale.values = std::move(rows);
    EpilogueSpec sigmoid;
    sigmoid.activation = fb::ActivationKind::sigmoid;
    const std::string op = graph_name(config_, i, Slot::kSharedScale);
    const int32_t weight = builder_.linear_weight(op + ".weight", config_.hidden, config_.hidden, std::move(scale));
    sum.gate = builder_.linear(op, in, weight, kAbsent, sigmoid);
    const int32_t made = dense(i, Slot::kSharedDown, wide, down, {});
    return builder_.row(graph_name(config_, i, Slot::kSharedDown) + ".scaled", made, sum);
  }

  /// `outer`: the layer's input.
  int32_t feed_forward(uint32_t i, int32_t x, int32_t outer) {
    const uint32_t width = config_.widths.intermediate[i];
    builder_.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
    x = stacked(i, x, width);
    const int32_t in = !config_.parallel                    ? normed(i, Slot::kDownNorm, x)
                       : has_role(config_, Slot::kDownNorm) ? normed(i, Slot::kDownNorm, outer)
                                                            : attended_;
    if (has_role(config_, Slot::kRouter, i)) return experts(i, in, x);
    EpilogueSpec activated;
    if (family_.has(Slot::kGate)) activated.gate = dense(i, Slot::kGate, in, {{Slot::kGate, width}}, {});
    activated.activation = config_.activation;
    int32_t wide = entities_.in(i) ? with_entities(i, in, width, activated)
                                   : dense(i, Slot::kUp, in, {{Slot::kUp, width}}, activated);
    if (family_.has(Slot::kCurveAbove)) wide = import_xielu(builder_, weights_, config_, i, wide);
    if (entities_.in(i)) entities_.down(i, wide);
    x = add(i, Slot::kDown, Slot::kDownOutNorm, normed_alone(i, Slot::kWideNorm, wide, width),
            added(i, Slot::kDownNorm, family_.block.reversible ? outer : x));
    if (!config_.bottlenecks) return x;
    EpilogueSpec widens = layer_norm(i, Slot::kWidenNorm);
    widens.residual = outer;
    return modules_.dense(layer_prefix(config_, i) + family_.name(Slot::kWiden), x, config_.hidden, widens);
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const Beside& beside_;
  Modules modules_;
  EntityRows entities_;
  LongAttention long_;
  LinearAttention by_sums_;
  ChunkAttention by_chunks_;
  const uint32_t positions_;  // tokens of the longest text
  const Family& family_;
  std::string base_;
  std::string side_;            // the prefix of names that encoder and decoder would otherwise share
  AttentionSpec scores_;        // positional settings of the current layer's attention
  int32_t rotary_ = kAbsent;    // angles of the layer's queries and keys
  int32_t attended_ = kAbsent;  // the input of the layer's attention
  std::vector<std::pair<Rotary, int32_t>> angles_;
};

}  // namespace

Encoder import_encoder(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t positions,
                       const Beside& beside) {
  return Stack(builder, weights, config, beside, positions).run();
}

}  // namespace bantam::convert
