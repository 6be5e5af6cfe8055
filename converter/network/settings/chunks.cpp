#include "network/settings/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "ops/more/token_orders.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostAttentionLayers = 1U << 10, kMostChunk = 1U << 16, kMostChunksBeside = 1U << 6;
constexpr const char *kLayers = "attn_layers", *kBuckets = "num_buckets", *kSeed = "hash_seed",
                     *kAxes = "axial_pos_shape", *kAxisColumns = "axial_pos_embds_dim";

std::vector<bool> read_kinds(const Fields& config) {
  if (!config.has(kLayers)) return {false, true, false, true, false, true};
  std::vector<bool> hashed;
  const Json& list = config.raw(kLayers);
  for (const Json& kind : list.is_array() ? list : Json::array()) {
    if (kind != "lsh" && kind != "local") {
      config.problem(ExitCode::kUnsupported, kLayers,
                     fmt::format("{} is not supported; \"lsh\" and \"local\" are", kind.dump()));
      return {false};
    }
    hashed.push_back(kind == "lsh");
  }
  if (!hashed.empty() && hashed.size() <= kMostAttentionLayers) return hashed;
  config.problem(ExitCode::kInvalid, kLayers,
                 fmt::format("is not a list of 1 to {} kinds of layers", kMostAttentionLayers));
  return {false};
}

ChunkedLayers::Chunks read_chunks_of(const Fields& config, const std::string& kind) {
  const auto neighbours = [&](const char* side, uint32_t otherwise) {
    const std::string key = fmt::format("{}_num_chunks_{}", kind, side);
    return config.has(key) && config.raw(key) == 0 ? 0 : config.count(key, kMostChunksBeside, otherwise);
  };
  const uint32_t after = config.has(kind + "_num_chunks_after") ? neighbours("after", 1) : 0;
  return {config.count(kind + "_attn_chunk_length", kMostChunk, 64), neighbours("before", 1), after};
}

/// Reads one even count, or factors of it.
std::vector<uint32_t> read_buckets(const Fields& config) {
  if (!config.has(kBuckets)) return {};
  const Json& raw = config.raw(kBuckets);
  const Json list = raw.is_array() ? raw : Json::array({raw});
  std::vector<uint32_t> counts;
  uint64_t product = 1;
  for (const Json& count : list) {
    const bool fits = count.is_number_unsigned() && count.get<uint64_t>() - 1 < ops::kMaxBuckets &&
                      count.get<uint64_t>() % 2 == 0 && (product *= count.get<uint64_t>()) <= ops::kMaxBuckets;
    if (!fits || counts.size() == ops::kMaxBucketCounts) {
      config.problem(ExitCode::kInvalid, kBuckets,
                     fmt::format("{} is not an even count of buckets, or up to {} of them, of a product of at most {}",
                                 raw.dump(), ops::kMaxBucketCounts, ops::kMaxBuckets));
      return {};
    }
    counts.push_back(count.get<uint32_t>());
  }
  return counts;
}

void read_seed(const Fields& config, ChunkedLayers& out) {
  if (!config.has(kSeed)) return;
  const Json& seed = config.raw(kSeed);
  if (!seed.is_number_integer()) {
    config.problem(ExitCode::kInvalid, kSeed, fmt::format("{} is not a whole number", seed.dump()));
    return;
  }
  out.seeded = true;
  out.seed = static_cast<uint32_t>(seed.is_number_unsigned() ? seed.get<uint64_t>()
                                                             : static_cast<uint64_t>(seed.get<int64_t>()));
}

/// Reads two counts.
void read_pair(const Fields& config, const char* key, uint32_t most, uint32_t (&out)[2], uint32_t first,
               uint32_t second) {
  out[0] = first;
  out[1] = second;
  if (!config.has(key)) return;
  const Json& list = config.raw(key);
  const auto fits = [&](size_t i) { return list[i].is_number_unsigned() && list[i].get<uint64_t>() - 1 < most; };
  if (list.is_array() && list.size() == 2 && fits(0) && fits(1)) {
    out[0] = list[0].get<uint32_t>();
    out[1] = list[1].get<uint32_t>();
    return;
  }
  config.problem(ExitCode::kInvalid, key, fmt::format("{} is not a pair of counts up to {}", list.dump(), most));
}

/// Reads axial positions; texts have at most as many tokens as there are positions.
void read_axes(const Fields& config, EncoderConfig& out) {
  if (!config.flag("axial_pos_embds", true)) return;
  ChunkedLayers& chunked = out.chunked;
  read_pair(config, kAxes, kMaxPositions, chunked.axis_rows, 64, 64);
  read_pair(config, kAxisColumns, out.hidden, chunked.axis_columns, 64, 192);
  if (chunked.axis_columns[0] + chunked.axis_columns[1] != out.hidden) {
    config.problem(ExitCode::kInvalid, kAxisColumns,
                   fmt::format("{} and {} columns are not the {} of hidden_size", chunked.axis_columns[0],
                               chunked.axis_columns[1], out.hidden));
  }
  const uint64_t places = uint64_t{chunked.axis_rows[0]} * chunked.axis_rows[1];
  out.positions = static_cast<uint32_t>(std::min<uint64_t>(out.positions, places));
}

}  // namespace

void read_chunks(const Fields& config, EncoderConfig& out) {
  if (!out.family->block.reversible) return;
  ChunkedLayers& chunked = out.chunked;
  chunked.hashed = read_kinds(config);
  out.layers = static_cast<uint32_t>(chunked.hashed.size());
  out.causal = config.flag("is_decoder", false);
  out.mask = out.causal ? fb::MaskKind::causal : fb::MaskKind::none;
  chunked.positions = out.positions;
  read_axes(config, out);
  chunked.filled = 1;
  chunked.shortest = std::numeric_limits<uint32_t>::max();
  for (const bool hashed : {false, true}) {
    if (std::find(chunked.hashed.begin(), chunked.hashed.end(), hashed) == chunked.hashed.end()) continue;
    const ChunkedLayers::Chunks chunks = read_chunks_of(config, hashed ? "lsh" : "local");
    (hashed ? chunked.of_hashes : chunked.of_text) = chunks;
    chunked.shortest = std::min(chunked.shortest, chunks.length);
    const uint64_t filled = std::lcm(uint64_t{chunked.filled}, uint64_t{chunks.length});
    if (filled > kMostChunk) {
      config.problem(ExitCode::kUnsupported, "lsh_attn_chunk_length",
                     fmt::format("and local_attn_chunk_length have no common multiple up to {}", kMostChunk));
    } else {
      chunked.filled = static_cast<uint32_t>(filled);
    }
  }
  if (chunked.of_hashes.length == 0) return;
  chunked.rounds = config.count("num_hashes", ops::kMaxRounds, 1);
  chunked.buckets = read_buckets(config);
  read_seed(config, chunked);
}

std::vector<uint32_t> bucket_counts(const ChunkedLayers& chunked, uint32_t tokens) {
  if (!chunked.buckets.empty()) return chunked.buckets;
  const uint32_t length = chunked.of_hashes.length;
  const uint64_t filled = (uint64_t{tokens} + chunked.filled - 1) / chunked.filled * chunked.filled;
  uint32_t power = 1;
  while (uint64_t{2} << power <= 2 * (filled / length)) ++power;
  const double root = std::sqrt(static_cast<double>(chunked.positions / length));
  const uint64_t most = 2 * std::max(static_cast<uint64_t>(root), uint64_t{length});
  if (uint64_t{1} << power <= most) return {1U << power};
  return {1U << power / 2, 1U << (power - power / 2)};
}

}  // namespace bantam::convert
