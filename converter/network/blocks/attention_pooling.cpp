#include "network/blocks/attention_pooling.h"

#include <string>
#include <utility>

namespace bantam::convert {
namespace {

/// The query of the probe, [1, hidden], computed in double precision; all images share it.
Values query_of(Weights& weights, const Values& in, const Values& bias, uint32_t hidden) {
  const Values probe = weights.encoder("head.probe", {1, 1, hidden});
  Values query;
  query.source = probe.source;
  query.source_bytes = probe.source_bytes;
  if (probe.values.empty() || in.values.empty() || bias.values.empty()) return query;
  for (uint32_t row = 0; row < hidden; ++row) {
    double sum = double{bias.values[row]};
    for (uint32_t i = 0; i < hidden; ++i) sum += double{in.values[size_t{row} * hidden + i]} * double{probe.values[i]};
    query.values.push_back(static_cast<float>(sum));
  }
  return query;
}

/// The rows of keys and values, which follow those of the query.
Values behind_query(Values all, uint32_t hidden, size_t columns) {
  if (all.values.empty()) return all;
  const auto query = static_cast<std::ptrdiff_t>(size_t{hidden} * columns);
  all.values.erase(all.values.begin(), all.values.begin() + query);
  all.source_bytes -= all.source_bytes / 3;
  return all;
}

}  // namespace

int32_t add_attention_pooling(Builder& builder, Weights& weights, const EncoderConfig& config, const Encoder& encoder,
                              const EpilogueSpec& after) {
  const uint32_t hidden = config.hidden;
  const std::string head = "head.", attention = head + "attention.", place = encoder.base;
  const auto vector = [&](const std::string& name) {
    return builder.vector(place + name, weights.encoder(name, {hidden}));
  };
  const auto dense = [&](const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue) {
    const uint32_t in = builder.width(x);
    const int32_t weight =
        builder.linear_weight(place + name + ".weight", out, in, weights.encoder(name + ".weight", {out, in}));
    const int32_t bias = builder.vector(place + name + ".bias", weights.encoder(name + ".bias", {out}));
    return builder.linear(place + name, x, weight, bias, epilogue);
  };
  builder.enter(fb::Part::pooler);
  const Values in = weights.encoder(attention + "in_proj_weight", {3 * hidden, hidden});
  const Values bias = weights.encoder(attention + "in_proj_bias", {3 * hidden});
  // Every token has the same query, and only the first token's result is read: attention computes a query for each row.
  // The extra work is small, a part of one layer.
  const int32_t query = builder.table(place + head + "query", 1, hidden, query_of(weights, in, bias, hidden));
  const int32_t asks = builder.embed(place + head + "queries", {{query, fb::IndexSource::zero}}, {});
  const int32_t weight = builder.linear_weight(place + attention + "key_value.weight", 2 * hidden, hidden,
                                               behind_query(in, hidden, hidden));
  const int32_t offsets = builder.vector(place + attention + "key_value.bias", behind_query(bias, hidden, 1));
  const int32_t seen = builder.linear(place + attention + "key_value", encoder.hidden, weight, offsets, {});
  const int32_t both = builder.join(place + attention + "rows", asks, seen);
  const Heads heads = builder.split_heads(place + attention + "heads", both, config.heads);
  const int32_t found = builder.attention(place + head + "attention", heads);
  const int32_t first = builder.pool(place + head + "first", found, fb::PoolKind::first, false);

  const int32_t out = dense(attention + "out_proj", first, hidden, {});
  EpilogueSpec norm;
  norm.norm = fb::NormKind::layer;
  norm.gamma = vector(head + "layernorm.weight");
  norm.beta = vector(head + "layernorm.bias");
  norm.epsilon = config.epsilon;
  EpilogueSpec activated;
  activated.activation = config.activation;
  const int32_t normed = builder.row(place + head + "layernorm", out, norm);
  const int32_t wide = dense(head + "mlp.fc1", normed, config.intermediate, activated);
  EpilogueSpec sum = after;
  sum.residual = out;
  const int32_t vectors = dense(head + "mlp.fc2", wide, hidden, sum);
  builder.enter(fb::Part::head);
  return vectors;
}

}  // namespace bantam::convert
