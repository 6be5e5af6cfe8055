#include "network/settings/summed_keys.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

namespace bantam::convert {
namespace {

constexpr uint32_t kMostFeatures = 1U << 16;
constexpr const char *kKernel = "kernel", *kEpsilon = "kernel_epsilon", *kSharing = "sharing";

/// Reads the kernel that features approximate, and the epsilon that keeps their sums from 0 (1e-4 in the authors' code,
/// 1e-3 for ReLU). Queries and keys each take the square root of the scores' scale.
void read_features(const Fields& config, EncoderConfig& out) {
  const std::string kernel = config.text(kKernel, "softmax");
  if (kernel != "softmax" && kernel != "relu") {
    config.problem(ExitCode::kUnsupported, kKernel,
                   fmt::format("\"{}\" is not supported; \"softmax\" and \"relu\" are", kernel));
  }
  out.summed.kind = kernel == "relu" ? fb::FeatureKind::relu : fb::FeatureKind::softmax;
  const double epsilon = config.number(kEpsilon, kernel == "relu" ? 1e-3 : 1e-4);
  if (!(epsilon >= 1e-30 && epsilon <= 1)) {
    config.problem(ExitCode::kInvalid, kEpsilon, fmt::format("{} is not between 0 and 1", epsilon));
  }
  out.summed.epsilon = static_cast<float>(epsilon);
  out.summed.query_factor = out.summed.key_factor = static_cast<float>(std::pow(out.head_width, -0.25));
}

/// Reads what shares matrices (section 4 of the paper); queries take the scores' scale.
void read_projection(const Fields& config, EncoderConfig& out) {
  using Sharing = SummedKeys::Sharing;
  const std::string sharing = config.text(kSharing, "headwise");
  out.summed.kind = fb::FeatureKind::places;
  out.summed.query_factor = static_cast<float>(std::pow(out.head_width, -0.5));
  for (const auto& [name, value] :
       {std::pair("none", Sharing::kNone), std::pair("headwise", Sharing::kHeads),
        std::pair("key-value", Sharing::kKeysValues), std::pair("layerwise", Sharing::kLayers)}) {
    if (sharing == name) out.summed.sharing = value;
    if (sharing == name) return;
  }
  config.problem(
      ExitCode::kUnsupported, kSharing,
      fmt::format("\"{}\" is not supported; \"none\", \"headwise\", \"key-value\" and \"layerwise\" are", sharing));
}

}  // namespace

void read_summed_keys(const Fields& config, EncoderConfig& out) {
  const Family& family = *out.family;
  if (!family.block.features && !family.block.projected) return;
  const Count& features = family.settings.features;
  out.summed.features = config.count(features.key, kMostFeatures, features.otherwise);
  family.block.features ? read_features(config, out) : read_projection(config, out);
}

}  // namespace bantam::convert
