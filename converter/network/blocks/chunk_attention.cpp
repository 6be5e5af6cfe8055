#include "network/blocks/chunk_attention.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "kernels/kernels.h"
#include "network/blocks/hash_rotations.h"
#include "network/settings/chunks.h"

namespace bantam::convert {
namespace {

/// transformers adds this to the mean square of a key.
constexpr float kNormEpsilon = 1e-6F;
/// The largest number of values in a table of positions, unless --max-tokens asks for more.
constexpr uint32_t kMostPlaceNumbers = 1U << 23;

uint32_t products_of(const std::vector<uint32_t>& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), 0U) / 2;
}

}  // namespace

int32_t ChunkAttention::rotations(const std::vector<uint32_t>& buckets) {
  if (rotations_ != kAbsent) return rotations_;
  const ChunkedLayers& chunked = config_.chunked;
  const uint32_t products = products_of(buckets);
  Values values;
  values.values = hash_rotations(chunked.seed, config_.heads, config_.head_width, chunked.rounds, products);
  rotations_ =
      builder_.table(fmt::format("{}.rotations", config_.family->base),
                     config_.heads * chunked.rounds * kernels::pad16(products), config_.head_width, std::move(values));
  return rotations_;
}

int32_t ChunkAttention::attend(uint32_t layer, int32_t x) {
  const ChunkedLayers& chunked = config_.chunked;
  const bool hashed = chunked.hashed[layer];
  const ChunkedLayers::Chunks& chunks = hashed ? chunked.of_hashes : chunked.of_text;
  fb::ChunkAttentionT attributes;
  attributes.heads = config_.heads;
  attributes.chunk = chunks.length;
  attributes.before = chunks.before;
  attributes.after = chunks.after;
  attributes.multiple = chunked.filled;
  // All layers pad, and then cut, texts that are longer than the shortest chunk of any layer.
  attributes.full_until = chunks.length == chunked.filled ? chunks.length : chunked.shortest;
  attributes.causal = config_.causal;
  attributes.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(config_.head_width)));
  if (hashed) {
    attributes.rounds = chunked.rounds;
    attributes.buckets = bucket_counts(chunked, positions_);
    attributes.epsilon = kNormEpsilon;
  }
  return builder_.chunk_attention(graph_name(config_, layer, Slot::kAttention), x,
                                  hashed ? rotations(attributes.buckets) : kAbsent, attributes);
}

Values places_by_axes(Weights& weights, const EncoderConfig& config, uint32_t positions) {
  const auto& rows = config.chunked.axis_rows;
  const auto& columns = config.chunked.axis_columns;
  const Values first = weights.encoder(config.family->name(Slot::kFirstAxis), {rows[0], 1, columns[0]});
  const Values second = weights.encoder(config.family->name(Slot::kSecondAxis), {1, rows[1], columns[1]});
  Values all;
  if (first.values.empty() || second.values.empty()) return all;
  all.values.reserve(size_t{positions} * config.hidden);
  for (size_t place = 0; place < positions; ++place) {
    const auto take = [&](const Values& axis, size_t row, size_t width) {
      const auto begin = axis.values.begin() + static_cast<std::ptrdiff_t>(row * width);
      all.values.insert(all.values.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    };
    take(first, place / rows[1], columns[0]);
    take(second, place % rows[1], columns[1]);
  }
  all.source = first.source;
  all.source.insert(all.source.end(), second.source.begin(), second.source.end());
  all.source_type = first.source_type;
  all.source_bytes = first.source_bytes + second.source_bytes;
  return all;
}

uint32_t usual_positions(const EncoderConfig& config) {
  if (config.chunked.axis_rows[0] == 0) return config.positions;
  const uint32_t most = std::max(kMostPlaceNumbers / config.hidden, 1U), filled = config.chunked.filled;
  return std::min(config.positions, most < filled ? most : most / filled * filled);
}

void describe_hashes(const EncoderConfig& config, uint32_t positions, std::vector<std::string>& notes) {
  const ChunkedLayers& chunked = config.chunked;
  if (chunked.rounds == 0) return;
  if (!chunked.seeded) {
    notes.push_back(fmt::format(
        "config.json has no hash_seed: random rotations of hashes, which transformers draws anew each time, "
        "are drawn once, as of the seed {}",
        chunked.seed));
  }
  if (chunked.buckets.empty()) {
    notes.push_back(fmt::format("config.json has no num_buckets: hashes have {}, as suits texts of {} tokens",
                                fmt::join(bucket_counts(chunked, positions), " x "), positions));
  }
}

}  // namespace bantam::convert
