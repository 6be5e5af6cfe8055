#include "network/blocks/experts.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

/// Appends a matrix and the rows of zeros that the operator expects as padding.
void append(std::vector<float> matrix, uint32_t rows, uint32_t columns, std::vector<float>* to) {
  matrix.resize(size_t{kernels::pad16(rows)} * columns);
  to->insert(to->end(), matrix.begin(), matrix.end());
}

/// The matrices of all experts, stored in one tensor, each padded.
Values of_all(Weights& weights, const EncoderConfig& config, const std::string& prefix, std::string name,
              uint32_t parts, uint32_t rows, uint32_t columns) {
  const bool turns = name.back() == '^';
  if (turns) name.pop_back();
  const uint32_t all = parts * rows, count = config.experts.experts;
  const std::string tensor = weights.has_encoder(prefix + name + ".weight") ? name + ".weight" : name;
  Values values = weights.encoder(prefix + tensor, {count, turns ? columns : all, turns ? all : columns});
  if (values.values.empty()) return values;
  std::vector<float> padded;
  const auto size = static_cast<std::ptrdiff_t>(size_t{all} * columns);
  for (uint32_t expert = 0; expert < count; ++expert) {
    const auto begin = values.values.begin() + expert * size;
    std::vector<float> own(begin, begin + size);
    if (turns) own = turned(own, columns);
    for (uint32_t part = 0; part < parts; ++part) {
      const auto first = own.begin() + part * (size / parts);
      append({first, first + size / parts}, rows, columns, &padded);
    }
  }
  values.values = std::move(padded);
  return values;
}

/// These modules of each expert, matrices [rows, columns], concatenated by rows and padded. kExpertDown is multiplied
/// by the settings' factors.
Values stacked(Weights& weights, const EncoderConfig& config, uint32_t layer, const std::vector<Slot>& modules,
               uint32_t rows, uint32_t columns) {
  const std::string prefix = layer_prefix(config, layer), first = config.family->name(modules.front());
  const auto scaled = [&](Values values) {
    const float factor = config.added_factor * config.experts.factor;
    if (modules.front() != Slot::kExpertDown || factor == 1) return values;
    for (float& value : values.values) value *= factor;
    return values;
  };
  if (first.find("{}") == std::string::npos) {
    return scaled(of_all(weights, config, prefix, first, static_cast<uint32_t>(modules.size()), rows, columns));
  }
  std::vector<Values> all;
  for (uint32_t expert = 0; expert < config.experts.experts; ++expert) {
    for (const Slot slot : modules) {
      const std::string name = fmt::format(fmt::runtime(config.family->name(slot)), expert);
      Values values = weights.encoder(prefix + name + ".weight", {rows, columns});
      if (!values.values.empty()) values.values.resize(size_t{kernels::pad16(rows)} * columns);
      all.push_back(std::move(values));
    }
  }
  return scaled(concatenate(std::move(all)));
}

}  // namespace

int32_t import_experts(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer, int32_t x,
                       const EpilogueSpec& epilogue) {
  const ExpertLayers& experts = config.experts;
  const uint32_t hidden = config.hidden, columns = experts.columns, count = experts.experts;
  const std::string router = graph_name(config, layer, Slot::kRouter);
  const std::string name = graph_name(config, layer, Slot::kExperts);
  const std::string stored = layer_prefix(config, layer) + config.family->name(Slot::kRouter);
  const bool biased = weights.has_encoder(stored + ".bias");
  const int32_t scores = builder.linear(
      router, x,
      builder.linear_weight(router + ".weight", count, hidden, weights.encoder(stored + ".weight", {count, hidden})),
      biased ? builder.vector(router + ".bias", weights.encoder(stored + ".bias", {count})) : kAbsent, {});
  const bool gated = config.family->has(Slot::kExpertGate);
  const std::vector<Slot> ups =
      gated ? std::vector<Slot>{Slot::kExpertUp, Slot::kExpertGate} : std::vector<Slot>{Slot::kExpertUp};
  ExpertsSpec spec;
  spec.experts = count;
  spec.top = experts.top;
  spec.outputs = hidden;
  spec.activation = config.activation;
  spec.gated = gated;
  spec.normalized = experts.shares_of_one;
  spec.capacity = experts.capacity;
  spec.shares = config.family->settings.shares;
  spec.choice_by_scores = config.family->settings.choice_by_scores;
  spec.threshold = spec.shares == fb::ShareKind::masked ? experts.threshold : 0;
  if (config.family->has(Slot::kChoiceBias)) {
    const std::string bias = layer_prefix(config, layer) + config.family->name(Slot::kChoiceBias);
    constexpr size_t kOneRow = 2;  // two extents: [groups of experts, experts], with one group
    const bool row = weights.encoder_extents(bias) == kOneRow;
    spec.choice_bias =
        builder.vector(graph_name(config, layer, Slot::kChoiceBias),
                       weights.encoder(bias, row ? std::vector<uint32_t>{1, count} : std::vector<uint32_t>{count}));
  }
  spec.up = builder.linear_weight(name + ".up.weight", count * (gated ? 2 : 1) * kernels::pad16(columns), hidden,
                                  stacked(weights, config, layer, ups, columns, hidden));
  spec.down = builder.linear_weight(name + ".down.weight", count * kernels::pad16(hidden), columns,
                                    stacked(weights, config, layer, {Slot::kExpertDown}, hidden, columns));
  return builder.experts(name, x, scores, spec, epilogue);
}

}  // namespace bantam::convert
