#include "network/blocks/modules.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/kernels.h"

namespace bantam::convert {

Modules::Modules(Builder& builder, Weights& weights, const EncoderConfig& config)
    : builder_(builder),
      weights_(weights),
      config_(config),
      family_(*config.family),
      base_(std::string(config.family->base) + ".") {}

int32_t Modules::vector(const std::string& name, uint32_t width) {
  const int32_t made = made_of(name);
  return made != kAbsent ? made : keep(name, weights_.encoder(name, {width}));
}

int32_t Modules::keep(const std::string& name, Values values) {
  const int32_t index = builder_.vector(base_ + name, std::move(values));
  remember(name, index);
  return index;
}

Values Modules::gammas(const std::string& name, uint32_t width) {
  if (family_.block.plain_norms) {
    Values ones;
    ones.values.assign(width, 1.0F);
    return ones;
  }
  Values values = weights_.encoder(name, {width});
  if (!family_.block.gammas_less_one) return values;
  for (float& value : values.values) value += 1;
  return values;
}

bool Modules::lacks_bias(const std::string& name) const {
  return family_.block.optional_biases && !weights_.has_encoder(name + ".bias");
}

int32_t Modules::bias_of(const std::string& name, uint32_t width) {
  return lacks_bias(name) ? kAbsent : vector(name + ".bias", width);
}

EpilogueSpec Modules::norm(const std::string& name, uint32_t width) {
  EpilogueSpec epilogue;
  epilogue.norm = family_.block.affine_norms ? fb::NormKind::affine
                  : family_.block.rms_norms  ? fb::NormKind::rms
                                             : fb::NormKind::layer;
  const int32_t made = made_of(name + ".weight");
  epilogue.gamma = made != kAbsent ? made : keep(name + ".weight", gammas(name + ".weight", width));
  epilogue.beta = family_.block.rms_norms ? kAbsent : bias_of(name, width);
  epilogue.epsilon = config_.epsilon;
  return epilogue;
}

int32_t Modules::matrix(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
  return builder_.linear_weight(base_ + name, rows, columns, std::move(values));
}

int32_t Modules::dense(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue) {
  const uint32_t in = builder_.width(x);
  const int32_t weight = matrix(name + ".weight", out, in, weights_.encoder_matrix(name + ".weight", out, in));
  return builder_.linear(base_ + name, x, weight, bias_of(name, out), epilogue);
}

int32_t Modules::made_of(const std::string& name) const {
  const auto made = made_.find(name);
  return made == made_.end() ? kAbsent : made->second;
}

Values rows_between(const Values& from, uint32_t columns, uint32_t begin, uint32_t end) {
  Values kept;
  kept.source = from.source;
  kept.source_type = from.source_type;
  if (from.values.empty()) return kept;
  kept.source_bytes = from.source_bytes * (end - begin) * columns / from.values.size();
  const auto first = from.values.begin();
  kept.values.assign(first + static_cast<std::ptrdiff_t>(size_t{begin} * columns),
                     first + static_cast<std::ptrdiff_t>(size_t{end} * columns));
  return kept;
}

int32_t padded_table(Builder& builder, const std::string& name, uint32_t rows, uint32_t columns, Values values) {
  const uint32_t padded = kernels::pad16(columns);
  std::vector<float> all(values.values.empty() ? 0 : size_t{rows} * padded, 0.0F);
  for (size_t at = 0; at < values.values.size(); ++at) all[at / columns * padded + at % columns] = values.values[at];
  values.values = std::move(all);
  return builder.table(name, rows, padded, std::move(values));
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

EpilogueSpec plus_vector(Builder& builder, const std::string& name, Values bias) {
  EpilogueSpec epilogue;
  Values ones;
  ones.values.assign(bias.values.size(), 1.0F);
  epilogue.norm = fb::NormKind::affine;
  epilogue.gamma = builder.vector(name + ".ones", std::move(ones));
  epilogue.beta = builder.vector(name + ".bias", std::move(bias));
  return epilogue;
}

}  // namespace bantam::convert
