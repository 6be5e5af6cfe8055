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

/// Modules of each expert, which are concatenated by rows: matrices [rows, columns], or their biases if `columns` is 0.
struct ExpertModules {
  std::vector<Slot> slots;
  uint32_t rows, columns;

  uint32_t width() const { return columns == 0 ? 1 : columns; }
};

/// The name of a tensor of all experts, and whether its matrices are stored with inputs before outputs.
std::pair<std::string, bool> shared_tensor(const Weights& weights, const std::string& prefix, std::string name,
                                           bool of_biases) {
  const bool turns = name.back() == '^';
  if (turns) name.pop_back();
  if (of_biases) return {name + "_bias", false};
  return {weights.has_encoder(prefix + name + ".weight") ? name + ".weight" : name, turns};
}

/// The matrices or biases of all experts, stored in one tensor, each padded.
Values of_all(Weights& weights, const EncoderConfig& config, const std::string& prefix, const ExpertModules& modules) {
  const auto [tensor, turns] =
      shared_tensor(weights, prefix, config.family->name(modules.slots.front()), modules.columns == 0);
  const auto parts = static_cast<uint32_t>(modules.slots.size());
  const uint32_t all = parts * modules.rows, count = config.experts.experts, width = modules.width();
  std::vector<uint32_t> shape = {count, turns ? width : all, turns ? all : width};
  if (modules.columns == 0) shape.pop_back();
  Values values = weights.encoder(prefix + tensor, shape);
  if (values.values.empty()) return values;
  std::vector<float> padded;
  const auto size = static_cast<std::ptrdiff_t>(size_t{all} * width);
  for (uint32_t expert = 0; expert < count; ++expert) {
    const auto begin = values.values.begin() + expert * size;
    std::vector<float> own(begin, begin + size);
    if (turns) own = turned(own, width);
    for (uint32_t part = 0; part < parts; ++part) {
      std::vector<float> matrix;
      for (uint32_t row = 0; row < modules.rows; ++row) {
        const uint32_t at = config.family->block.gates_between ? row * parts + part : part * modules.rows + row;
        const auto first = own.begin() + static_cast<std::ptrdiff_t>(size_t{at} * width);
        matrix.insert(matrix.end(), first, first + width);
      }
      append(std::move(matrix), modules.rows, width, &padded);
    }
  }
  values.values = std::move(padded);
  return values;
}

/// These modules of all experts, padded. kExpertDown is multiplied by the settings' factors.
Values stacked(Weights& weights, const EncoderConfig& config, uint32_t layer, const ExpertModules& modules) {
  const std::string prefix = layer_prefix(config, layer), first = config.family->name(modules.slots.front());
  const auto scaled = [&](Values values) {
    const float factor = config.added_factor * config.experts.factor;
    if (modules.slots.front() != Slot::kExpertDown || factor == 1) return values;
    for (float& value : values.values) value *= factor;
    return values;
  };
  if (first.find("{}") == std::string::npos) return scaled(of_all(weights, config, prefix, modules));
  std::vector<Values> all;
  for (uint32_t expert = 0; expert < config.experts.experts; ++expert) {
    for (const Slot slot : modules.slots) {
      const std::string name = fmt::format(fmt::runtime(config.family->name(slot)), expert);
      std::vector<uint32_t> shape = {modules.rows, modules.columns};
      if (modules.columns == 0) shape.pop_back();
      Values values = weights.encoder(prefix + name + (modules.columns == 0 ? ".bias" : ".weight"), shape);
      if (!values.values.empty()) values.values.resize(size_t{kernels::pad16(modules.rows)} * modules.width());
      all.push_back(std::move(values));
    }
  }
  return scaled(concatenate(std::move(all)));
}

/// The biases of these modules of all experts; kAbsent if the file has none.
int32_t stacked_biases(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer,
                       std::vector<Slot> slots, uint32_t rows, const std::string& name) {
  const std::string prefix = layer_prefix(config, layer), first = config.family->name(slots.front());
  const bool numbered = first.find("{}") != std::string::npos;
  const std::string stored =
      numbered ? fmt::format(fmt::runtime(first), 0) + ".bias" : shared_tensor(weights, prefix, first, true).first;
  if (!weights.has_encoder(prefix + stored)) return kAbsent;
  return builder.vector(name, stacked(weights, config, layer, {std::move(slots), rows, 0}));
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
                                  stacked(weights, config, layer, {ups, columns, hidden}));
  spec.down = builder.linear_weight(name + ".down.weight", count * kernels::pad16(hidden), columns,
                                    stacked(weights, config, layer, {{Slot::kExpertDown}, hidden, columns}));
  spec.up_bias = stacked_biases(builder, weights, config, layer, ups, columns, name + ".up.bias");
  spec.down_bias = stacked_biases(builder, weights, config, layer, {Slot::kExpertDown}, hidden, name + ".down.bias");
  spec.limit = experts.limit;
  spec.gate_added = config.family->settings.gate_added;
  spec.scales_inputs = config.family->settings.scales_inputs;
  return builder.experts(name, x, scores, spec, epilogue);
}

}  // namespace bantam::convert
