#include "network/blocks/gated_recurrence.h"

#include <string>
#include <utility>
#include <vector>

#include "network/blocks/modules.h"

namespace bantam::convert {
namespace {

/// The matrices [heads, inputs, outputs] as one matrix of all columns, outputs first.
std::vector<float> spread_heads(const std::vector<float>& heads, size_t width, size_t columns) {
  std::vector<float> all(heads.empty() ? 0 : columns * columns, 0.0F);
  for (size_t at = 0; at < heads.size(); ++at) {
    const size_t out = at % width, in = at / width % width, first = at / (width * width) * width;
    all[(first + out) * columns + first + in] = heads[at];
  }
  return all;
}

}  // namespace

int32_t import_gated_recurrence(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer,
                                int32_t x) {
  const uint32_t columns = builder.width(x), heads = config.heads, width = columns / heads;
  const auto gate = [&](Slot slot, int32_t times) {
    const std::string name = layer_prefix(config, layer) + config.family->name(slot);
    const std::string op = graph_name(config, layer, slot);
    Values matrix = weights.encoder(name + "_weight", {heads, width, width});
    matrix.values = spread_heads(matrix.values, width, columns);
    EpilogueSpec sigmoid;
    sigmoid.activation = fb::ActivationKind::sigmoid;
    sigmoid.gate = times;
    const int32_t weight = builder.linear_weight(op + ".weight", columns, columns, std::move(matrix));
    const int32_t bias = builder.vector(op + ".bias", weights.encoder(name + "_bias", {heads, width}));
    return builder.linear(op, x, weight, bias, sigmoid);
  };
  constexpr double kFactor = -8;  // of the paper
  const std::string name = graph_name(config, layer, Slot::kStateRates);
  Values rates = weights.encoder(layer_prefix(config, layer) + config.family->name(Slot::kStateRates), {columns});
  for (float& rate : rates.values) rate = static_cast<float>(kFactor * softplus(static_cast<double>(rate)));
  ScanSpec scan;
  scan.kind = fb::ScanKind::gated;
  scan.x = gate(Slot::kInputGate, x);
  scan.steps = gate(Slot::kRateGate, kAbsent);
  scan.rates = padded_table(builder, name, 1, columns, std::move(rates));
  return builder.scan(name + ".scan", scan);
}

}  // namespace bantam::convert
