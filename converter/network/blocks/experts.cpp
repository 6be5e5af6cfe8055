#include "network/blocks/experts.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.h"

namespace bantam::convert {
namespace {

/// The matrices [rows, columns] of these modules of each expert, one above the other, each padded with rows of zeros: as the operator
/// has them.
Values stacked(Weights& weights, const EncoderConfig& config, uint32_t layer, const std::vector<Slot>& modules,
               uint32_t rows, uint32_t columns) {
  std::vector<Values> all;
  for (uint32_t expert = 0; expert < config.experts.experts; ++expert) {
    for (const Slot slot : modules) {
      const std::string name = fmt::format(fmt::runtime(config.family->name(slot)), expert);
      Values values = weights.encoder(layer_prefix(config, layer) + name + ".weight", {rows, columns});
      if (!values.values.empty()) values.values.resize(size_t{kernels::pad16(rows)} * columns);
      all.push_back(std::move(values));
    }
  }
  return concatenate(std::move(all));
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
  spec.up = builder.linear_weight(name + ".up.weight", count * (gated ? 2 : 1) * kernels::pad16(columns), hidden,
                                  stacked(weights, config, layer, ups, columns, hidden));
  spec.down = builder.linear_weight(name + ".down.weight", count * kernels::pad16(hidden), columns,
                                    stacked(weights, config, layer, {Slot::kExpertDown}, hidden, columns));
  return builder.experts(name, x, scores, spec, epilogue);
}

}  // namespace bantam::convert
