// ELMo (arXiv 1802.05365): vectors of words, optionally computed from their characters, a stack of LSTM layers for each
// direction, and a mix of all of them. docs/elmo.md describes its directories.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "network/blocks/recurrent.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

constexpr const char* kMixWeights = "mix.weights";
constexpr const char* kMixGamma = "mix.gamma";

class Bilm {
 public:
  Bilm(Builder& builder, Weights& weights, const Fields& fields, const Encoder& encoder)
      : builder_(builder), weights_(weights), encoder_(encoder), settings_(read_recurrent(fields)) {
    layers_ = std::exchange(settings_.layers, 1);
    settings_.both = false;  // each module has one direction
    residual_ = fields.flag("residual", true);
    mixes_ = weights.has_encoder(kMixWeights);
    if (!mixes_) return;
    const uint32_t words = builder.width(encoder.hidden);
    read_mix(words);
    if (words == settings_.state) return;
    fields.problem(
        ExitCode::kInvalid, "embedding_size",
        fmt::format("{} is not the width of a layer's states, {} (proj_size, or hidden_size): \"{}\" adds the two",
                    words, settings_.state, kMixWeights));
    mixes_ = false;  // the layers' tensors are read nevertheless
  }

  /// Joins both directions' mixes of words and layers, or their last layers without a mix: [tokens, 2 * state].
  void run(bool keep_state, Encoder* out) {
    if (mixes_) words_ = scaled("mix.words", encoder_.hidden, 0, kAbsent);
    const int32_t ahead = one_way("forward", false), back = one_way("backward", true);
    builder_.enter(fb::Part::recurrent);
    out->hidden = builder_.join(name("layers"), ahead, back);
    if (!keep_state) return;
    const int32_t last = builder_.pool(name("forward.end"), ahead, fb::PoolKind::last, false);
    const int32_t first = builder_.pool(name("backward.end"), back, fb::PoolKind::first, false);
    out->state = builder_.join(name("ends"), last, first);
  }

 private:
  std::string name(const std::string& what) const { return encoder_.base + what; }

  /// Reads the factors of words and of each layer: gamma * softmax(weights).
  void read_mix(uint32_t width) {
    const Values weights = weights_.encoder(kMixWeights, {layers_ + 1});
    Values gamma;
    gamma.values = {1.0F};
    if (weights_.has_encoder(kMixGamma)) gamma = weights_.encoder(kMixGamma, {1});
    if (weights.values.empty() || gamma.values.empty()) return;
    const float largest = *std::max_element(weights.values.begin(), weights.values.end());
    double sum = 0;
    for (const float weight : weights.values) sum += std::exp(double{weight} - double{largest});
    for (size_t i = 0; i < weights.values.size(); ++i) {
      const double share = std::exp(double{weights.values[i]} - double{largest}) / sum;
      Values factor;
      factor.values.assign(width, static_cast<float>(double{gamma.values.front()} * share));
      factor.source = {weights.source.front()};
      builder_.enter(fb::Part::recurrent, static_cast<int32_t>(i) - 1);
      factors_.push_back(builder_.vector(name(fmt::format("mix.factor.{}", i)), std::move(factor)));
    }
  }

  /// `sum` plus x times factor `number`.
  int32_t scaled(const std::string& what, int32_t x, size_t number, int32_t sum) {
    if (number >= factors_.size()) return x;  // reported as a problem before
    EpilogueSpec times;
    times.norm = fb::NormKind::affine;
    times.gamma = factors_[number];
    const int32_t product = builder_.row(name(what), x, times);
    if (sum == kAbsent) return product;
    EpilogueSpec plus;
    plus.residual = sum;
    return builder_.row(name(what + ".sum"), product, plus);
  }

  /// The layers of one direction, mixed.
  int32_t one_way(const std::string& way, bool reverse) {
    int32_t x = encoder_.hidden, sum = words_;
    for (uint32_t layer = 0; layer < layers_; ++layer) {
      settings_.reverse = reverse;
      settings_.number = layer;
      const std::string module = fmt::format("{}_layers.{}", way, layer);
      int32_t y = import_recurrent(builder_, weights_, settings_, module, encoder_.base, x);
      if (residual_ && layer != 0) {
        EpilogueSpec plus;
        plus.residual = x;
        y = builder_.row(name(module + ".sum"), y, plus);
      }
      if (mixes_) sum = scaled(fmt::format("mix.{}.{}", way, layer), y, size_t{layer} + 1, sum);
      x = y;
    }
    return mixes_ ? sum : x;
  }

  Builder& builder_;
  Weights& weights_;
  const Encoder& encoder_;
  RecurrentSettings settings_;  // of a layer
  uint32_t layers_ = 1;
  bool residual_ = true, mixes_ = false;
  std::vector<int32_t> factors_;
  int32_t words_ = kAbsent;  // multiplied by their factor
};

/// Adds a stack of recurrent layers for each direction, and with "mix.weights" the weighted sum of words and layers;
/// both directions are concatenated by columns. Encoder::state is each direction's last state, if "pooling" asks for
/// it.
void add_bilm_layers(const LayerSite& site) {
  const bool keep_state = site.of_texts() && site.fields.text("pooling", "last") == "last";
  const Encoder beneath = *site.encoder;
  Bilm(site.builder, site.weights, site.fields, beneath).run(keep_state, site.encoder);
}

}  // namespace

Family elmo() {
  Family family = above_words("elmo", "Elmo");
  family.own = {add_bilm_layers, "they are recurrent", {"forward_layers.", "backward_layers.", "mix."}};
  family.settings.required = {{"bidirectional", "true"}};
  family.heads.push_back({fb::TaskKind::embed, nullptr});
  return family;
}

}  // namespace bantam::convert
