#include "network/blocks/xielu.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "network/blocks/modules.h"

namespace bantam::convert {
namespace {

/// The file's number; 1 after a problem.
double number_of(Weights& weights, const EncoderConfig& config, uint32_t layer, Slot slot) {
  const std::string name = layer_prefix(config, layer) + config.family->name(slot);
  const bool scalar = weights.has_encoder(name) && weights.encoder_extents(name) == 0;
  const Values values = weights.encoder(name, scalar ? std::vector<uint32_t>{} : std::vector<uint32_t>{1});
  return values.values.empty() ? 1 : double{values.values.front()};
}

}  // namespace

int32_t import_xielu(Builder& builder, Weights& weights, const EncoderConfig& config, uint32_t layer, int32_t x) {
  constexpr double kLeast = 1e-15;  // keeps quotients finite; smaller numbers add nothing
  const double slope = number_of(weights, config, layer, Slot::kCurveSlope);
  const double above = std::max(softplus(number_of(weights, config, layer, Slot::kCurveAbove)), kLeast);
  const double below = slope + softplus(number_of(weights, config, layer, Slot::kCurveBelow));
  const double divisor = std::abs(below) < kLeast ? kLeast : below;
  const std::string name = graph_name(config, layer, Slot::kUp) + ".xielu.";
  const auto filled = [&](const std::string& part, double value) {
    Values values;
    values.values.assign(builder.width(x), static_cast<float>(value));
    return builder.vector(name + part, std::move(values));
  };
  const auto times = [&](const std::string& part, double factor) {
    EpilogueSpec epilogue;
    epilogue.norm = fb::NormKind::affine;
    epilogue.gamma = filled(part + ".factor", factor);
    return epilogue;
  };
  // With m = min(x, 0) and r = max(x, 0): below (exp(m) + (above r^2 + slope x) / below - m - 1).
  const int32_t negated = builder.row(name + "negated", x, times("negated", -1));
  EpilogueSpec least = times("least", -1);
  least.activation = fb::ActivationKind::relu;
  const int32_t m = builder.row(name + "least", negated, least);
  const int32_t line = builder.row(name + "line", x, times("line", slope / above));
  EpilogueSpec curve = times("curve", above / divisor);
  curve.activation = fb::ActivationKind::relu_squared;
  curve.residual = line;
  EpilogueSpec rest;
  rest.activation = fb::ActivationKind::relu;
  rest.residual = builder.row(name + "curve", x, curve);
  EpilogueSpec last = times("last", divisor);
  last.activation = fb::ActivationKind::exp;
  last.residual = builder.row(name + "rest", negated, rest);
  last.beta = filled("last.shift", -divisor);
  return builder.row(name + "last", m, last);
}

}  // namespace bantam::convert
