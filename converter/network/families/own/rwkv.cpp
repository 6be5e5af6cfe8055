// RWKV-4 (arXiv 2305.13048): layers whose tokens read a mixture of their own row and the one before. Instead of
// attention they have a mean of all values so far, whose weights fade from token to token.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "network/blocks/modules.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostRwkvColumns = 1U << 16;
constexpr double kLastEpsilon = 1e-5;  // of the norm behind the layers, whatever the settings say

struct RwkvSettings {
  uint32_t columns = 0;       // of keys and values
  uint32_t halved_every = 0;  // layers; 0: rows are not halved
};

class RwkvLayers {
 public:
  RwkvLayers(const LayerSite& site, const RwkvSettings& settings)
      : builder_(site.builder),
        weights_(site.weights),
        config_(site.config),
        s_(settings),
        modules_(site.builder, site.weights, site.config),
        base_(site.encoder->base) {}

  int32_t run(int32_t x) {
    for (uint32_t i = 0; i < config_.layers; ++i) {
      builder_.enter(fb::Part::recurrent, static_cast<int32_t>(i));
      layer_ = layer_prefix(config_, i);
      if (i == 0) x = normed("pre_ln", x, 0);
      x = remembered(normed("ln1", x, i), x);
      builder_.enter(fb::Part::feed_forward, static_cast<int32_t>(i));
      x = fed_forward(normed("ln2", x, i), x);
    }
    return x;
  }

  /// The norm `name` of rows behind `layers` layers. transformers halves them every so many layers, so that f16 does not
  /// overflow; a norm sees it only by its epsilon.
  EpilogueSpec norm(const std::string& name, uint32_t layers, double epsilon) {
    EpilogueSpec norm = modules_.norm(name, config_.hidden);
    const uint32_t halvings = s_.halved_every == 0 ? 0 : layers / s_.halved_every;
    norm.epsilon = static_cast<float>(std::ldexp(epsilon, static_cast<int>(2 * halvings)));
    return norm;
  }

 private:
  int32_t normed(const std::string& name, int32_t x, uint32_t layers) {
    return builder_.row(base_ + layer_ + name, x, norm(layer_ + name, layers, config_.epsilon));
  }

  /// Each column's mixture of a token's row and the one before it.
  int32_t shifted(const std::string& name, int32_t x) {
    Values taps = weights_.encoder(layer_ + name, {1, 1, config_.hidden});
    const std::vector<float> own = taps.values;
    for (float& tap : taps.values) tap = 1 - tap;
    taps.values.insert(taps.values.end(), own.begin(), own.end());
    return builder_.short_convolution(base_ + layer_ + name, x, 1, std::move(taps), {});
  }

  int32_t dense(const std::string& module, const std::string& mix, int32_t x, uint32_t columns,
                fb::ActivationKind activation) {
    const size_t part = module.find('.') + 1;
    EpilogueSpec epilogue;
    epilogue.activation = activation;
    return modules_.dense(layer_ + module, shifted(module.substr(0, part) + mix, x), columns, epilogue);
  }

  /// By what weights fade from token to token, and what a token's own key has in addition, as rows of a Scan.
  int32_t rates() {
    Values rates = weights_.encoder(layer_ + "attention.time_decay", {s_.columns});
    const Values first = weights_.encoder(layer_ + "attention.time_first", {s_.columns});
    for (float& rate : rates.values) rate = static_cast<float>(-std::exp(static_cast<double>(rate)));
    rates.values.insert(rates.values.end(), first.values.begin(), first.values.end());
    return padded_table(builder_, base_ + layer_ + "attention.rates", 2, s_.columns, std::move(rates));
  }

  int32_t remembered(int32_t in, int32_t x) {
    const std::string part = "attention.";
    ScanSpec scan;
    scan.kind = fb::ScanKind::weighted;
    scan.steps = dense(part + "key", "time_mix_key", in, s_.columns, fb::ActivationKind::none);
    scan.x = dense(part + "value", "time_mix_value", in, s_.columns, fb::ActivationKind::none);
    scan.rates = rates();
    EpilogueSpec gated, sum;
    gated.gate = dense(part + "receptance", "time_mix_receptance", in, s_.columns, fb::ActivationKind::sigmoid);
    const int32_t mean = builder_.scan(base_ + layer_ + part + "scan", scan);
    sum.residual = x;
    return modules_.dense(layer_ + part + "output", builder_.row(base_ + layer_ + part + "gated", mean, gated),
                          config_.hidden, sum);
  }

  int32_t fed_forward(int32_t in, int32_t x) {
    const std::string part = "feed_forward.";
    EpilogueSpec sum;
    sum.gate = dense(part + "receptance", "time_mix_receptance", in, config_.hidden, fb::ActivationKind::sigmoid);
    sum.residual = x;
    const int32_t up = dense(part + "key", "time_mix_key", in, config_.intermediate, fb::ActivationKind::relu_squared);
    return modules_.dense(layer_ + part + "value", up, config_.hidden, sum);
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const RwkvSettings& s_;
  Modules modules_;
  std::string base_, layer_;
};

RwkvSettings read_rwkv(const LayerSite& site) {
  constexpr const char* kEvery = "rescale_every";
  RwkvSettings out;
  out.columns = site.fields.count("attention_hidden_size", kMostRwkvColumns, site.config.hidden);
  const double every = site.fields.number(kEvery, 6);
  if (every > 0) out.halved_every = static_cast<uint32_t>(std::min(every, 1e6));
  const uint32_t halvings = out.halved_every == 0 ? 0 : site.config.layers / out.halved_every;
  const double most = std::ldexp(std::max<double>(site.config.epsilon, kLastEpsilon), static_cast<int>(2 * halvings));
  if (!(most <= 1)) {
    site.fields.problem(ExitCode::kUnsupported, kEvery, "halves rows so often that a norm's epsilon exceeds 1");
  }
  return out;
}

void add_rwkv(const LayerSite& site) {
  const RwkvSettings settings = read_rwkv(site);
  site.problems.raise();  // wrong settings would make every tensor's shape wrong
  Encoder& out = *site.encoder;
  RwkvLayers layers(site, settings);
  out.hidden = layers.run(out.hidden);
  const EpilogueSpec last = layers.norm("ln_out", site.config.layers, kLastEpsilon);
  out.hidden = site.builder.row(out.base + "ln_out", out.hidden, last);
  out.gamma = last.gamma;
}

}  // namespace

Family rwkv() {
  Family family;
  family.model_types = {"rwkv"};
  family.base = "rwkv";
  family.architectures = {"Rwkv"};
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 50277;
  settings.positions = {"context_length", 1024};
  settings.any_length = true;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 4096;
  settings.layers.otherwise = 32;
  settings.heads = {nullptr, 1};
  settings.widening = 4;
  settings.activation = nullptr;
  settings.epsilon = "layer_norm_epsilon";
  settings.epsilon_otherwise = 1e-5;
  family.layer = "blocks.{}";
  family.block.causal = true;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "embeddings.weight"}};
  family.own = {add_rwkv, "they are recurrent"};
  family.heads = decoder_heads("ForCausalLM");
  for (Head& head : family.heads) {
    if (head.task == fb::TaskKind::generate) head.layers.back().name = "head";
  }
  return family;
}

}  // namespace bantam::convert
