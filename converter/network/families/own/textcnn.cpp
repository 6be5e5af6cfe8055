// TextCNN (Kim 2014, arXiv 1408.5882): word vectors, convolutions over neighboring words, and a head. No library writes
// such directories; docs/textcnn.md describes them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/task_traits.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

/// Settings of the convolutions in config.json.
struct ConvolutionSettings {
  std::vector<uint32_t> sizes;  // tokens that filters of each kind span
  uint32_t filters = 0;         // of each size
  uint32_t layers = 1;
  // With zeros, so that each token has a window; otherwise only windows within the text count.
  bool padded = false;
  fb::ActivationKind activation = fb::ActivationKind::relu;
  fb::PoolKind pooling = fb::PoolKind::max;

  uint32_t width() const { return static_cast<uint32_t>(sizes.size()) * filters; }
};

constexpr size_t kMostWindows = 8;
constexpr uint32_t kMostWindow = 64, kMostFilters = 1U << 13, kMostConvolutions = 16;

std::vector<uint32_t> read_sizes(const Fields& fields) {
  std::vector<uint32_t> sizes;
  const bool listed = fields.has("kernel_sizes") && fields.raw("kernel_sizes").is_array();
  for (const Json& size : listed ? fields.raw("kernel_sizes") : Json::array()) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() == 0 || size.get<uint64_t>() > kMostWindow) return {};
    sizes.push_back(size.get<uint32_t>());
  }
  return sizes.size() > kMostWindows ? std::vector<uint32_t>() : sizes;
}

class Convolutions {
 public:
  Convolutions(Builder& builder, Weights& weights, const ConvolutionSettings& settings, std::string base)
      : builder_(builder), weights_(weights), s_(settings), base_(std::move(base)) {
    const uint32_t widest = *std::max_element(s_.sizes.begin(), s_.sizes.end());
    before_ = s_.padded ? (widest - 1) / 2 : 0;
    after_ = widest - 1 - before_;
  }

  int32_t run(int32_t x) {
    for (uint32_t layer = 0; layer < s_.layers; ++layer) {
      builder_.enter(fb::Part::feed_forward, static_cast<int32_t>(layer));
      x = one(layer, x);
    }
    return x;
  }

  /// The maximum, or the mean, of the filters' outputs over a text.
  int32_t pooled(int32_t x) {
    std::vector<uint32_t> skip;
    for (const uint32_t size : s_.sizes) skip.push_back(size - 1);
    return builder_.pool(base_ + "pool", x, s_.pooling, false, s_.padded ? std::vector<uint32_t>() : skip);
  }

 private:
  std::string name(uint32_t layer, size_t kind) const {
    return s_.layers == 1 ? fmt::format("convs.{}", kind) : fmt::format("convs.{}.{}", layer, kind);
  }

  /// The filters of one size as rows over the widest window, padded with zeros.
  Values filters(const std::string& tensor, uint32_t size, uint32_t columns) {
    const bool flat = weights_.encoder_extents(tensor) == 4;  // Conv2d over [tokens, columns]
    Values values = flat ? weights_.encoder(tensor, {s_.filters, 1, size, columns})
                         : weights_.encoder(tensor, {s_.filters, columns, size});
    if (values.values.empty()) return values;
    const size_t window = before_ + 1 + after_, first = s_.padded ? before_ - (size - 1) / 2 : 0;
    std::vector<float> rows(s_.filters * window * columns, 0.0F);
    for (size_t filter = 0; filter < s_.filters; ++filter) {
      for (size_t token = 0; token < size; ++token) {
        for (size_t column = 0; column < columns; ++column) {
          const size_t from =
              flat ? (filter * size + token) * columns + column : (filter * columns + column) * size + token;
          rows[(filter * window + first + token) * columns + column] = values.values[from];
        }
      }
    }
    values.values = std::move(rows);
    return values;
  }

  int32_t one(uint32_t layer, int32_t x) {
    const uint32_t columns = builder_.width(x), window = before_ + 1 + after_;
    std::vector<Values> matrices, biases;
    const bool biased = weights_.has_encoder(name(layer, 0) + ".bias");
    for (size_t kind = 0; kind < s_.sizes.size(); ++kind) {
      matrices.push_back(filters(name(layer, kind) + ".weight", s_.sizes[kind], columns));
      if (biased) biases.push_back(weights_.encoder(name(layer, kind) + ".bias", {s_.filters}));
    }
    const std::string op = base_ + (s_.layers == 1 ? "convs" : fmt::format("convs.{}", layer));
    const int32_t weight =
        builder_.linear_weight(op + ".weight", s_.width(), window * columns, concatenate(std::move(matrices)));
    const int32_t bias = biased ? builder_.vector(op + ".bias", concatenate(std::move(biases))) : kAbsent;
    const int32_t tokens = window == 1 ? x : builder_.unfold(op + ".tokens", x, before_, after_);
    EpilogueSpec activated;
    activated.activation = s_.activation;
    return builder_.linear(op, tokens, weight, bias, activated);
  }

  Builder& builder_;
  Weights& weights_;
  const ConvolutionSettings& s_;
  std::string base_;
  uint32_t before_, after_;  // tokens of the widest window before and after its middle token
};

/// Reads "kernel_sizes", "num_filters", "num_layers" (1), "padding" ("valid" or "same"), "activation" ("relu") and
/// "pooling" ("max" or "mean"). `of_tokens`: the task needs results per token, so padding must be "same".
ConvolutionSettings read_convolutions(const Fields& fields, bool of_tokens) {
  ConvolutionSettings out;
  out.sizes = read_sizes(fields);
  if (out.sizes.empty()) {
    fields.problem(
        ExitCode::kInvalid, "kernel_sizes",
        fmt::format("is not a list of 1 to {} numbers from 1 to {}, such as [3, 4, 5]", kMostWindows, kMostWindow));
    out.sizes = {1};
  }
  out.filters = fields.count("num_filters", kMostFilters);
  out.layers = fields.count("num_layers", kMostConvolutions, 1);
  const std::string padding = fields.text("padding", "valid"), pooling = fields.text("pooling", "max");
  out.padded = padding == "same";
  if (!out.padded && padding != "valid") {
    fields.problem(ExitCode::kUnsupported, "padding",
                   fmt::format("\"{}\" is not supported; \"valid\" and \"same\" are", padding));
  }
  if (!out.padded && out.layers > 1) {
    fields.problem(ExitCode::kUnsupported, "padding", "several layers of convolutions want \"same\"");
  }
  if (!out.padded && of_tokens) {
    fields.problem(ExitCode::kInvalid, "padding", "answers for each token want \"same\": there is a window for each");
  }
  if (pooling == "mean") {
    out.pooling = fb::PoolKind::mean;
  } else if (pooling != "max") {
    fields.problem(ExitCode::kUnsupported, "pooling",
                   fmt::format("\"{}\" is not supported; \"max\" and \"mean\" are", pooling));
  }
  out.activation = read_activation(fields, "activation", "relu");
  return out;
}

/// Adds the filters; those of all sizes of a layer are one matrix over the widest window. Encoder::state is the pooled
/// row of a text.
void add_convolutions(const LayerSite& site) {
  const ConvolutionSettings settings = read_convolutions(site.fields, site.of_tokens());
  site.problems.raise();  // wrong settings would make every tensor's shape wrong
  Convolutions layers(site.builder, site.weights, settings, site.encoder->base);
  site.encoder->hidden = layers.run(site.encoder->hidden);
  const bool labels = (traits(site.task).parts & kLabelsPart) != 0;
  if (labels) site.encoder->state = layers.pooled(site.encoder->hidden);
}

}  // namespace

Family textcnn() {
  Family family = above_words("textcnn", "TextCnn");
  family.own = {add_convolutions, "they are convolutions", {"convs."}};
  return family;
}

}  // namespace bantam::convert
