#include "network/blocks/span_convolution.h"

#include <string>
#include <utility>
#include <vector>

namespace bantam::convert {

int32_t import_span_convolution(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer,
                                int32_t x, int32_t queries) {
  const uint32_t heads = config.widths.heads[layer], hidden = config.hidden, taps = config.span_taps,
                 columns = heads * config.head_width, reach = taps / 2;
  const auto stored = [&](Slot slot) { return layer_prefix(config, layer) + config.family->name(slot); };
  const auto linear = [&](Slot slot, int32_t in, uint32_t rows, Values matrix, Values bias,
                          const EpilogueSpec& epilogue) {
    const std::string op = graph_name(config, layer, slot);
    const int32_t weight = builder.linear_weight(op + ".weight", rows, builder.width(in), std::move(matrix));
    return builder.linear(op, in, weight, builder.vector(op + ".bias", std::move(bias)), epilogue);
  };
  const auto dense = [&](Slot slot, int32_t in, uint32_t rows) {
    const std::string name = stored(slot);
    return linear(slot, in, rows, weights.encoder(name + ".weight", {rows, builder.width(in)}),
                  weights.encoder(name + ".bias", {rows}), {});
  };
  Values filters = weights.encoder(stored(Slot::kSpanDepthwise) + ".weight", {hidden, 1, taps});
  filters.values = turned(filters.values, filters.values.empty() ? 0 : hidden);
  const int32_t neighbours =
      builder.depthwise(graph_name(config, layer, Slot::kSpanDepthwise), x, reach, reach, std::move(filters));
  EpilogueSpec product;
  product.gate = queries;
  const int32_t keys = linear(Slot::kSpanPointwise, neighbours, columns,
                              weights.encoder(stored(Slot::kSpanPointwise) + ".weight", {columns, hidden, 1}),
                              weights.encoder(stored(Slot::kSpanBias), {columns, 1}), product);
  const int32_t scores = dense(Slot::kSpanScores, keys, heads * taps);
  const int32_t values = dense(Slot::kSpanValues, x, columns);
  const std::string name = graph_name(config, layer, Slot::kSpanValues) + ".convolution";
  return builder.depthwise_of_scores(name, values, scores, heads, reach, reach);
}

}  // namespace bantam::convert
