#include "network/blocks/relative.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "graph/places.h"
#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

/// Rows of relative positions in the order of keys: position i has row last - (its row in the file). Only rows that
/// some distance of `positions` tokens selects are kept.
struct PlaceRows {
  const RelativePlaces& relative;
  int32_t most, last, first;
  uint32_t count;  // a multiple of 16

  PlaceRows(const RelativePlaces& places, uint32_t positions)
      : relative(places),
        most(static_cast<int32_t>(positions) - 1),
        last(2 * static_cast<int32_t>(places.span) - 1),
        first(row_of(-most)),
        count((static_cast<uint32_t>(row_of(most) - first) / 16 + 1) * 16) {}

  /// The row of a key `distance` tokens after its query, counted from the earliest position.
  int32_t row_of(int32_t distance) const {
    const int32_t place = relative.buckets != 0 ? signed_bucket(-distance, relative.buckets, relative.most) : -distance;
    return last - std::clamp(place + static_cast<int32_t>(relative.span), 0, last);
  }
  std::vector<float> of_distances() const {
    std::vector<float> rows;
    for (int32_t distance = -most; distance <= most; ++distance) {
      rows.push_back(static_cast<float>(row_of(distance) - first));
    }
    return rows;
  }
  /// From [2 span, heads * head] to [heads][count][head], padded with zeros.
  std::vector<float> heads(const std::vector<float>& from, uint32_t heads, uint32_t head) const {
    std::vector<float> rows;
    for (uint32_t h = 0; !from.empty() && h < heads; ++h) {
      for (uint32_t row = 0; row < count; ++row) {
        const int32_t stored = last - first - static_cast<int32_t>(row);
        for (size_t i = 0; i < head; ++i) {
          const size_t column = size_t{h} * head + i, width = size_t{heads} * head;
          rows.push_back(stored < 0 ? 0.0F : from[static_cast<size_t>(stored) * width + column]);
        }
      }
    }
    return rows;
  }
};

/// 0, 1, ...: each distance has its own row.
std::vector<float> counted(uint32_t count) {
  std::vector<float> rows(count);
  std::iota(rows.begin(), rows.end(), 0.0F);
  return rows;
}

/// The product of a matrix [width, columns] with the sinusoids of distances from -most to most (a key after its query
/// is positive), of shape [2 most + 1, columns]. Sines of negative distances are negated; cosines are the same.
std::vector<double> project_sinusoids(uint32_t most, const std::vector<float>& matrix, uint32_t width) {
  const size_t columns = matrix.size() / width;
  const std::vector<float> waves = sinusoids(most + 1, width);
  std::vector<double> made((size_t{2} * most + 1) * columns);
  for (size_t distance = 0; distance <= most; ++distance) {
    // Transformer-XL's sinusoids count a key before its query as a positive distance.
    double* front = made.data() + (most - distance) * columns;
    double* behind = made.data() + (most + distance) * columns;
    std::vector<double> sines(columns), cosines(columns);
    for (size_t k = 0; k < width; ++k) {
      std::vector<double>& sums = k < width / 2 ? sines : cosines;
      const auto wave = static_cast<double>(waves[distance * width + k]);
      for (size_t c = 0; c < columns; ++c) sums[c] += wave * static_cast<double>(matrix[k * columns + c]);
    }
    for (size_t c = 0; c < columns; ++c) {
      behind[c] = cosines[c] - sines[c];
      front[c] = cosines[c] + sines[c];
    }
  }
  return made;
}

}  // namespace

void add_shifted(Builder& builder, const std::string& name, const ShiftedShape& shape, const Values& words,
                 const Values& of_places, Values matrix, int32_t rows, AttentionSpec* scores) {
  const uint32_t heads = shape.heads, head = shape.head_width, columns = heads * head;
  const uint32_t distances = shape.distances(), places = shape.places(), count = kernels::pad16(places);
  const double scale = 1 / std::sqrt(static_cast<double>(head));
  Values biases;
  if (!words.values.empty() && !of_places.values.empty() && !matrix.values.empty()) {
    const std::vector<double> made = project_sinusoids(shape.farthest, matrix.values, shape.hidden);
    matrix.values.assign(size_t{count} * columns, 0.0F);
    for (size_t h = 0; h < heads; ++h) {
      for (size_t row = 0; row < distances; ++row) {
        double bias = 0;
        for (size_t i = h * head; i < (h + 1) * head; ++i) {
          const double key = made[row * columns + i] * scale;
          if (row < places) matrix.values[(h * count + row) * head + i - h * head] = static_cast<float>(key);
          bias += (static_cast<double>(of_places.values[i]) - static_cast<double>(words.values[i])) * key;
        }
        biases.values.push_back(static_cast<float>(bias));
      }
    }
  }
  biases.source = of_places.source;
  scores->place_rows = rows;
  scores->place_keys = builder.places(name + ".keys", heads * count, head, std::move(matrix));
  scores->distance_bias = builder.table(name + ".biases", heads, distances, std::move(biases));
}

std::vector<float> ShiftedShape::rows() const {
  std::vector<float> numbers = counted(distances());
  for (float& number : numbers) number = std::min(number, static_cast<float>(places() - 1));
  return numbers;
}

Values take_by_head(Weights& weights, const EncoderConfig& config, uint32_t layer, Slot slot) {
  const std::string name = config.family->name(slot), own = layer_prefix(config, layer) + name;
  const std::string of_all = name.substr(name.rfind('.') + 1);
  const bool shared = !weights.has_encoder(own) && weights.has_encoder(of_all);
  return weights.encoder(shared ? of_all : own, shape_by_head(config, slot));
}

RelativeConstants::RelativeConstants(Builder& builder, Weights& weights, const EncoderConfig& config,
                                     uint32_t positions)
    : builder_(builder), weights_(weights), config_(config), family_(*config.family), positions_(positions) {}

void RelativeConstants::add(uint32_t layer, AttentionSpec& scores) {
  if (family_.block.places) disentangled(layer, scores);
  if (family_.block.shifted) shifted(layer, scores);
  if (config_.relative.vectors) by_distance(layer, scores);
}

std::string RelativeConstants::name(uint32_t layer, const char* what) const {
  return fmt::format("{}.{}{}", family_.base, layer_prefix(config_, layer), what);
}

int32_t RelativeConstants::rows(std::vector<float> of_distances) {
  if (rows_ != kAbsent) return rows_;
  Values values;
  values.values = std::move(of_distances);
  rows_ = builder_.vector(std::string(family_.base) + ".places.rows", std::move(values));
  return rows_;
}

/// Embeddings of relative positions after their norm.
const std::vector<double>& RelativeConstants::place_embeddings() {
  if (!places_.empty()) return places_;
  const uint32_t rows = 2 * config_.relative.span, width = config_.hidden;
  const Values table = weights_.encoder(family_.name(Slot::kPlaces), {rows, width});
  places_.assign(table.values.begin(), table.values.end());
  if (!config_.relative.norm) return places_;
  const std::string norm = family_.name(Slot::kPlacesNorm);
  const Values gamma = weights_.encoder(norm + ".weight", {width}), beta = weights_.encoder(norm + ".bias", {width});
  if (gamma.values.empty() || beta.values.empty()) return places_;
  for (size_t at = 0; at < places_.size(); at += width) {
    double* x = places_.data() + at;
    const double mean = std::accumulate(x, x + width, 0.0) / width;
    double square = 0;
    for (size_t i = 0; i < width; ++i) square += (x[i] - mean) * (x[i] - mean) / width;
    const double factor = 1 / std::sqrt(square + double{config_.epsilon});
    for (size_t i = 0; i < width; ++i) x[i] = (x[i] - mean) * factor * double{gamma.values[i]} + double{beta.values[i]};
  }
  return places_;
}

/// The output of a layer's module for the embeddings of positions, times `scale`: [2 span, columns].
Values RelativeConstants::project_places(uint32_t layer, Slot slot, uint32_t columns, double scale) {
  const uint32_t rows = 2 * config_.relative.span, width = config_.hidden;
  const std::string module = layer_prefix(config_, layer) + family_.name(slot);
  Values out = weights_.encoder(module + ".weight", {columns, width});
  const bool biased = weights_.has_encoder(module + ".bias");
  const Values bias = biased ? weights_.encoder(module + ".bias", {columns}) : Values{};
  const std::vector<double>& places = place_embeddings();
  if (out.values.empty() || places.empty() || (biased && bias.values.empty())) return {};
  std::vector<double> weight(out.values.size());  // [width, columns]: neighboring sums accumulate together
  for (size_t c = 0; c < columns; ++c) {
    for (size_t k = 0; k < width; ++k) weight[k * columns + c] = double{out.values[c * width + k]} * scale;
  }
  std::vector<float> made;
  made.reserve(size_t{rows} * columns);
  for (size_t row = 0; row < rows; ++row) {
    std::vector<double> sums(columns);
    for (size_t c = 0; biased && c < columns; ++c) sums[c] = double{bias.values[c]} * scale;
    for (size_t k = 0; k < width; ++k) {
      const double x = places[row * width + k];
      for (size_t c = 0; c < columns; ++c) sums[c] += x * weight[k * columns + c];
    }
    for (const double sum : sums) made.push_back(static_cast<float>(sum));
  }
  out.values = std::move(made);
  return out;
}

/// Sets a layer's scores of relative positions: distances select rows of the products of its matrices and the
/// positions' embeddings.
void RelativeConstants::disentangled(uint32_t layer, AttentionSpec& scores) {
  const RelativePlaces& relative = config_.relative;
  const double divisor = std::sqrt(static_cast<double>(config_.head_width) * relative.terms);
  scores.scale = static_cast<float>(1 / divisor);
  if (!relative.keys && !relative.queries) return;
  builder_.enter(fb::Part::attention, static_cast<int32_t>(layer));
  const PlaceRows places(relative, positions_);
  scores.place_rows = rows(places.of_distances());
  const uint32_t heads = config_.widths.heads[layer], head = config_.head_width, columns = heads * head;
  if (relative.keys) {
    Values made = project_places(layer, relative.shared ? Slot::kKey : Slot::kPlaceKey, columns, 1 / divisor);
    made.values = places.heads(made.values, heads, head);
    scores.place_keys = builder_.places(name(layer, "places.keys"), heads * places.count, head, std::move(made));
  }
  if (relative.queries) {
    Values made = project_places(layer, relative.shared ? Slot::kQuery : Slot::kPlaceQuery, columns, 1 / divisor);
    made.values = places.heads(made.values, heads, head);
    scores.place_queries = builder_.places(name(layer, "places.queries"), heads * places.count, head, std::move(made));
  }
}

/// The matrix that projects to position keys, [hidden, columns].
Values RelativeConstants::place_matrix(uint32_t layer) {
  if (family_.block.by_head) return take_by_head(weights_, config_, layer, Slot::kPlaceKey);
  const std::string name = layer_prefix(config_, layer) + family_.name(Slot::kPlaceKey) + ".weight";
  const uint32_t columns = config_.heads * config_.head_width;
  Values stored = weights_.encoder(name, {columns, config_.hidden});
  stored.values = turned(stored.values, columns);
  return stored;
}

/// Transformer-XL's scores are (q + w) k + (q + r) p for a key k and its relative position p. Queries of the graph are
/// q + w (Slot::kQueryBias), so a position adds (q + w) p + (r - w) p: a product and a bias by distance. In causal
/// models only earlier tokens have positions.
void RelativeConstants::shifted(uint32_t layer, AttentionSpec& scores) {
  const uint32_t clamp = config_.relative.clamp;
  uint32_t farthest = clamp != 0 ? std::min(clamp, positions_ - 1) : positions_ - 1;
  if (scores.mask == fb::MaskKind::causal_window) farthest = std::min(farthest, scores.window);
  const ShiftedShape shape = {config_.heads, config_.head_width, config_.hidden, farthest, config_.causal};
  builder_.enter(fb::Part::attention, static_cast<int32_t>(layer));
  const Values words = take_by_head(weights_, config_, layer, Slot::kQueryBias);
  const Values of_places = take_by_head(weights_, config_, layer, Slot::kPlaceBias);
  Values keys = place_matrix(layer);
  add_shifted(builder_, name(layer, "places"), shape, words, of_places, std::move(keys), rows(shape.rows()), &scores);
  if (family_.has(Slot::kSegmentKeys)) of_segments(layer, words, scores);
}

/// XLNet adds (q + s) e, where e is the key of "same segment" or "other segment". All keys of the query's own segment
/// get the same term, so it is dropped, and keys of another segment get the difference.
void RelativeConstants::of_segments(uint32_t layer, const Values& words, AttentionSpec& scores) {
  const uint32_t heads = config_.heads, head = config_.head_width, columns = heads * head;
  const double scale = 1 / std::sqrt(static_cast<double>(head));
  const Values segments = take_by_head(weights_, config_, layer, Slot::kSegmentBias);
  const Values ends = take_by_head(weights_, config_, layer, Slot::kSegmentKeys);
  Values pairs;
  const bool all = !words.values.empty() && !segments.values.empty() && !ends.values.empty();
  for (size_t h = 0; h < heads && all; ++h) {
    double bias = 0;
    for (size_t i = h * head; i < (h + 1) * head; ++i) {
      const double other = static_cast<double>(ends.values[columns + i]) - static_cast<double>(ends.values[i]);
      pairs.values.push_back(static_cast<float>(other * scale));
      bias += (static_cast<double>(segments.values[i]) - static_cast<double>(words.values[i])) * other * scale;
    }
    pairs.values.push_back(static_cast<float>(bias));
  }
  pairs.source = ends.source;
  scores.segment_keys = builder_.table(name(layer, "segments.keys"), heads, head + 1, std::move(pairs));
}

/// Sets one vector per distance and layer, shared by all heads. The table's middle is distance 0, even if positions
/// were cut.
void RelativeConstants::by_distance(uint32_t layer, AttentionSpec& scores) {
  const uint32_t head = config_.head_width, most = positions_ - 1;
  const double scale = 1 / std::sqrt(static_cast<double>(head));
  const std::string table = layer_prefix(config_, layer) + family_.name(Slot::kDistanceKeys) + ".weight";
  const uint64_t stored = weights_.encoder_rows(table).value_or(0);
  const bool fits = stored % 2 == 1 && stored > 2 * uint64_t{most} && stored <= UINT32_MAX;
  const uint32_t rows_there =
      fits ? static_cast<uint32_t>(stored) : 2 * (config_.first_position + config_.positions) - 1;
  builder_.enter(fb::Part::attention, static_cast<int32_t>(layer));
  Values vectors = weights_.encoder(table, {rows_there, head});
  const uint32_t distances = 2 * most + 1, count = kernels::pad16(distances);
  if (!vectors.values.empty()) {
    std::vector<float> made(size_t{count} * head);
    for (size_t row = 0; row < distances; ++row) {  // from the earliest key on
      const size_t from = rows_there / 2 + most - row;
      for (size_t i = 0; i < head; ++i) {
        made[row * head + i] = static_cast<float>(static_cast<double>(vectors.values[from * head + i]) * scale);
      }
    }
    vectors.values = std::move(made);
  }
  scores.place_rows = rows(counted(distances));
  scores.place_keys = builder_.places(name(layer, "places"), count, head, std::move(vectors));
  scores.place_queries = config_.relative.queries ? scores.place_keys : kAbsent;
  scores.shared_places = true;
}

}  // namespace bantam::convert
