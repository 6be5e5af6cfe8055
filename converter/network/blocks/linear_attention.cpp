#include "network/blocks/linear_attention.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

/// Returns the first `places` columns of E [blocks * rows, columns] as rows; the blocks are concatenated by columns,
/// each padded with zeros to a multiple of 16.
std::vector<float> by_place(const std::vector<float>& e, size_t blocks, size_t rows, size_t columns, size_t places) {
  const size_t padded = (rows + 15) / 16 * 16;
  std::vector<float> out(places * blocks * padded, 0.0F);
  for (size_t row = 0; row < blocks * rows; ++row) {
    const size_t column = row / rows * padded + row % rows;
    for (size_t place = 0; place < places; ++place) out[place * blocks * padded + column] = e[row * columns + place];
  }
  return out;
}

}  // namespace

/// Random vectors from the checkpoint.
int32_t LinearAttention::features(uint32_t layer) {
  const std::string name = layer_prefix(config_, layer) + config_.family->name(Slot::kFeatureMatrix) + ".weight";
  const uint32_t count = config_.summed.features, width = config_.head_width;
  return builder_.table(config_.family->base + ("." + name), count, width, weights_.encoder(name, {count, width}));
}

/// The factors of each position's keys or values; layers, or keys and values, that share them use one constant.
int32_t LinearAttention::places(uint32_t layer, Slot slot) {
  const bool shared = config_.summed.sharing == SummedKeys::Sharing::kLayers;
  const std::string name = (shared ? "" : layer_prefix(config_, layer)) +
                           config_.family->name(shared ? Slot::kTokenProjection : slot) + ".weight";
  const auto made = made_.find(name);
  if (made != made_.end()) return made->second;
  const uint32_t blocks = config_.summed.sharing == SummedKeys::Sharing::kNone ? config_.heads : 1;
  const uint32_t rows = config_.summed.features, padded = kernels::pad16(rows);
  Values values = weights_.encoder(name, {blocks * rows, config_.positions});
  if (!values.values.empty()) {
    values.values = by_place(values.values, blocks, rows, config_.positions, positions_);
  }
  const int32_t table =
      builder_.table(config_.family->base + ("." + name), positions_, blocks * padded, std::move(values));
  made_.emplace(name, table);
  return table;
}

int32_t LinearAttention::attend(uint32_t layer, int32_t q, int32_t keys_values) {
  const SummedKeys& summed = config_.summed;
  SumSpec spec;
  spec.kind = summed.kind;
  spec.heads = config_.widths.heads[layer];
  spec.features = summed.features;
  spec.epsilon = summed.epsilon;
  spec.matrix = summed.kind == fb::FeatureKind::places ? places(layer, Slot::kKeyProjection) : features(layer);
  const bool of_values = summed.kind == fb::FeatureKind::places && summed.sharing < SummedKeys::Sharing::kKeysValues;
  if (of_values) spec.value_matrix = places(layer, Slot::kValueProjection);
  const int32_t sums = builder_.key_sums(graph_name(config_, layer, Slot::kKeySums), keys_values, spec);
  return builder_.linear_attention(graph_name(config_, layer, Slot::kAttention), q, sums, spec);
}

}  // namespace bantam::convert
