// The Evolved Transformer (So et al., arXiv 1901.11117), and Meena, which has one encoder layer and thirteen decoder
// layers of it (Adiwardana et al., arXiv 2001.09977). No library writes such directories; docs/evolved-transformer.md
// describes them.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "network/blocks/modules.h"
#include "network/families/blocks.h"
#include "network/families/own/own_layers.h"

namespace bantam::convert {
namespace {

constexpr uint32_t kMostHeads = 1U << 10, kDoubledHeads = 16;

/// Elements [begin, begin + count) of `from`.
Values some_values(const Values& from, size_t begin, size_t count) {
  Values out;
  out.source = from.source;
  out.source_type = from.source_type;
  if (from.values.empty()) return out;
  out.source_bytes = from.source_bytes * count / from.values.size();
  const auto first = from.values.begin() + static_cast<std::ptrdiff_t>(begin);
  out.values.assign(first, first + static_cast<std::ptrdiff_t>(count));
  return out;
}

/// Reorders [rows][columns][taps], as in torch's Conv1d, to [rows][taps][columns].
Values taps_first(Values from, size_t columns, size_t taps) {
  std::vector<float> ordered(from.values.size());
  for (size_t at = 0; at < ordered.size(); ++at) {
    const size_t tap = at % taps, column = at / taps % columns, row = at / taps / columns;
    ordered[(row * taps + tap) * columns + column] = from.values[at];
  }
  from.values = std::move(ordered);
  return from;
}

/// The tokens before and after each token that a convolution spans.
struct Window {
  uint32_t before, after;
  uint32_t taps() const { return before + 1 + after; }
};
constexpr Window around(uint32_t taps) { return {taps / 2, taps / 2}; }
constexpr Window in_front(uint32_t taps) { return {taps - 1, 0}; }

/// The building blocks of both stacks' cells. Names are relative to the base model; d is the hidden width.
class Cells {
 public:
  Cells(Builder& builder, Weights& weights, const EncoderConfig& config, fb::Phase phase)
      : builder_(builder),
        weights_(weights),
        config_(config),
        phase_(phase),
        modules_(builder, weights, config),
        base_(std::string(config.family->base) + "."),
        d_(config.hidden) {}

 protected:
  void enter(fb::Part part, uint32_t layer) {
    layer_ = static_cast<int32_t>(layer);
    part_ = part;
    builder_.enter(phase_);
    builder_.enter(part, layer_);
  }

  int32_t normed(const std::string& name, int32_t x) {
    return builder_.row(base_ + name, x, modules_.norm(name, builder_.width(x)));
  }

  int32_t dense(const std::string& name, int32_t x, uint32_t out, const EpilogueSpec& epilogue = {}) {
    return modules_.dense(name, x, out, epilogue);
  }

  static EpilogueSpec activated(fb::ActivationKind activation) {
    EpilogueSpec epilogue;
    epilogue.activation = activation;
    return epilogue;
  }
  static EpilogueSpec added_to(int32_t x) {
    EpilogueSpec epilogue;
    epilogue.residual = x;
    return epilogue;
  }

  /// Several layers of d outputs as one multiplication; their outputs are concatenated.
  int32_t above(const std::string& op, int32_t x, const std::vector<std::string>& names) {
    const uint32_t in = builder_.width(x), out = static_cast<uint32_t>(names.size()) * d_;
    std::vector<Values> matrices, biases;
    bool biased = false;
    for (const std::string& name : names) {
      matrices.push_back(weights_.encoder(name + ".weight", {d_, in}));
      const bool bare = modules_.lacks_bias(name);
      biased = biased || !bare;
      Values zeros;
      zeros.values.assign(d_, 0.0F);
      biases.push_back(bare ? std::move(zeros) : weights_.encoder(name + ".bias", {d_}));
    }
    const int32_t matrix = modules_.matrix(op + ".weight", out, in, concatenate(std::move(matrices)));
    const int32_t bias = biased ? builder_.vector(base_ + op + ".bias", concatenate(std::move(biases))) : kAbsent;
    return builder_.linear(base_ + op, x, matrix, bias, {});
  }

  /// x + self-attention over `in`, which is computed from x.
  int32_t attention(const std::string& name, int32_t in, uint32_t heads, int32_t x) {
    const int32_t qkv = above(name + ".qkv", in, {name + ".q_proj", name + ".k_proj", name + ".v_proj"});
    AttentionSpec spec;
    spec.mask = config_.mask;
    const Heads split = builder_.split_heads(base_ + name + ".heads", qkv, heads);
    return dense(name + ".out_proj", builder_.attention(base_ + name, split, spec), d_, added_to(x));
  }

  /// The first half of a separable convolution: each column is summed over the window's rows.
  int32_t depthwise(const std::string& name, int32_t x, Window window) {
    const uint32_t columns = builder_.width(x), taps = window.taps();
    Values weights = weights_.encoder(name + ".depthwise.weight", {columns, 1, taps});
    return builder_.depthwise(base_ + name + ".depthwise", x, window.before, window.after,
                              taps_first(std::move(weights), columns, taps));
  }

  /// norm(relu(layer `name` with `out` outputs) + `right`). `right` has fewer columns and counts as padded with zeros;
  /// so the columns that it is added to are computed separately.
  int32_t branches(const std::string& name, int32_t x, uint32_t out, int32_t right, const std::string& norm) {
    const uint32_t in = builder_.width(x), front = builder_.width(right), rest = out - front;
    const Values matrix = weights_.encoder(name + ".weight", {out, in});
    const bool bare = modules_.lacks_bias(name);
    const Values bias = bare ? Values{} : weights_.encoder(name + ".bias", {out});
    const auto rows = [&](const char* end, uint32_t begin, uint32_t count, int32_t residual) {
      const std::string op = name + end;
      const int32_t weight =
          modules_.matrix(op + ".weight", count, in, some_values(matrix, size_t{begin} * in, size_t{count} * in));
      const int32_t shift = bare ? kAbsent : builder_.vector(base_ + op + ".bias", some_values(bias, begin, count));
      EpilogueSpec epilogue = activated(fb::ActivationKind::relu);
      epilogue.residual = residual;
      return builder_.linear(base_ + op, x, weight, shift, epilogue);
    };
    const int32_t first = rows(".front", 0, front, right);
    const int32_t last = rows(".rest", front, rest, kAbsent);
    return builder_.join(base_ + norm, first, last, modules_.norm(norm, out));
  }

  int32_t feed_forward(const std::string& layer, uint32_t i, int32_t x, fb::ActivationKind activation) {
    enter(fb::Part::feed_forward, i);
    const int32_t in = normed(layer + "ffn_norm", x);
    const std::string between = layer + "fc1_norm";
    EpilogueSpec first;
    if (weights_.has_encoder(between + ".weight")) first = modules_.norm(between, 4 * d_);
    first.activation = activation;
    return dense(layer + "fc2", dense(layer + "fc1", in, 4 * d_, first), d_, added_to(x));
  }

  /// The norm after all layers.
  void finish(const std::string& name, int32_t x, Encoder* out) {
    const EpilogueSpec norm = modules_.norm(name, d_);
    out->hidden = builder_.row(base_ + name, x, norm);
    out->gamma = norm.gamma;
    out->beta = norm.beta;
    builder_.enter(fb::Phase::main);
  }

  Builder& builder_;
  Weights& weights_;
  const EncoderConfig& config_;
  const fb::Phase phase_;
  Modules modules_;
  const std::string base_;
  const uint32_t d_;
  int32_t layer_ = -1;
  fb::Part part_ = fb::Part::none;
};

class EncoderCells : public Cells {
 public:
  using Cells::Cells;

  void run(Encoder* out) {
    int32_t x = out->hidden;
    for (uint32_t i = 0; i < config_.layers; ++i) {
      const std::string layer = fmt::format("encoder.layers.{}.", i);
      x = gated(layer, i, x);
      x = convolved(layer, i, x);
      enter(fb::Part::attention, i);
      x = attention(layer + "self_attn", normed(layer + "self_attn_norm", x), config_.heads, x);
      x = feed_forward(layer, i, x, fb::ActivationKind::relu);
    }
    finish("encoder.norm", x, out);
  }

 private:
  /// x + values * sigmoid(gates).
  int32_t gated(const std::string& layer, uint32_t i, int32_t x) {
    enter(fb::Part::feed_forward, i);
    const int32_t in = normed(layer + "glu_norm", x);
    EpilogueSpec gates = activated(fb::ActivationKind::sigmoid);
    gates.gate = dense(layer + "glu_values", in, d_);
    gates.residual = x;
    return dense(layer + "glu_gates", in, d_, gates);
  }

  /// x + sep9x1(norm(relu(1x1 to 4 d) + relu(3x1 to d / 2))), which is d / 2 wide.
  int32_t convolved(const std::string& layer, uint32_t i, int32_t x) {
    enter(fb::Part::feed_forward, i);
    const int32_t in = normed(layer + "branch_norm", x);
    const uint32_t half = d_ / 2;
    constexpr Window kStandard = around(3);
    const std::string right = layer + "right";
    Values filters =
        taps_first(weights_.encoder(right + ".weight", {half, d_, kStandard.taps()}), d_, kStandard.taps());
    const int32_t matrix = modules_.matrix(right + ".weight", half, kStandard.taps() * d_, std::move(filters));
    const int32_t tokens = builder_.unfold(base_ + right + ".tokens", in, kStandard.before, kStandard.after);
    const int32_t narrow = builder_.linear(base_ + right, tokens, matrix, modules_.bias_of(right, half),
                                           activated(fb::ActivationKind::relu));
    const int32_t wide = branches(layer + "left", in, 4 * d_, narrow, layer + "convolution_norm");
    const std::string name = layer + "convolution";
    const int32_t front = builder_.slice(base_ + name + ".front", x, 0, half);
    const int32_t made = dense(name + ".pointwise", depthwise(name, wide, around(9)), half, added_to(front));
    return builder_.join(base_ + name, made, builder_.slice(base_ + name + ".rest", x, half, d_ - half));
  }
};

class DecoderCells : public Cells {
 public:
  DecoderCells(Builder& builder, Weights& weights, const EncoderConfig& config, const Fields& fields,
               const Encoder& source)
      : Cells(builder, weights, config, fb::Phase::main), source_(source) {
    const uint32_t usual = std::max(std::min(2 * config.heads, kDoubledHeads), config.heads);
    wide_heads_ = fields.count("wide_attention_heads", kMostHeads, usual);
    if (d_ % wide_heads_ == 0) return;
    fields.problem(
        ExitCode::kInvalid, "wide_attention_heads",
        fmt::format("{} heads do not share {} columns out; say a number that divides them", wide_heads_, d_));
    wide_heads_ = 1;
  }

  void run(Encoder* out) {
    int32_t x = out->hidden;
    for (uint32_t i = 0; i < config_.layers; ++i) {
      const std::string layer = fmt::format("decoder.layers.{}.", i);
      enter(fb::Part::attention, i);
      const int32_t in = normed(layer + "attention_norm", x);
      x = attention(layer + "wide_attn", in, wide_heads_, x);
      x = to_source(layer + "first_encoder_attn", in, x);
      x = convolved(layer, i, x);
      enter(fb::Part::attention, i);
      x = attention(layer + "self_attn", normed(layer + "self_attn_norm", x), config_.heads, x);
      x = to_source(layer + "encoder_attn", normed(layer + "encoder_attn_norm", x), x);
      x = feed_forward(layer, i, x, fb::ActivationKind::silu);
    }
    finish("decoder.norm", x, out);
  }

 private:
  /// x + attention of `in` to the source; the pass over the source computes its keys and values.
  int32_t to_source(const std::string& name, int32_t in, int32_t x) {
    const int32_t queries =
        builder_.split_queries(base_ + name + ".heads", dense(name + ".q_proj", in, d_), config_.heads);
    builder_.enter(fb::Phase::source);
    builder_.enter(part_, layer_);
    const int32_t both = above(name + ".kv", source_.hidden, {name + ".k_proj", name + ".v_proj"});
    const Heads states = builder_.split_states(base_ + name + ".states", both, config_.heads);
    builder_.enter(fb::Phase::main);
    builder_.enter(part_, layer_);
    const int32_t context = builder_.attention(base_ + name, {queries, states.k, states.v});
    return dense(name + ".out_proj", context, d_, added_to(x));
  }

  /// x + sep7x1(norm(relu(sep11x1 to 2 d) + sep7x1 to d / 2)), over each token and those before it.
  int32_t convolved(const std::string& layer, uint32_t i, int32_t x) {
    enter(fb::Part::feed_forward, i);
    const int32_t in = normed(layer + "branch_norm", x);
    const std::string left = layer + "left", right = layer + "right", last = layer + "convolution";
    const int32_t narrow = dense(right + ".pointwise", depthwise(right, in, in_front(7)), d_ / 2);
    const int32_t wide =
        branches(left + ".pointwise", depthwise(left, in, in_front(11)), 2 * d_, narrow, layer + "convolution_norm");
    return dense(last + ".pointwise", depthwise(last, wide, in_front(7)), d_, added_to(x));
  }

  const Encoder& source_;
  uint32_t wide_heads_ = 1;
};

/// Adds the layers of the encoder, or those of the decoder, which attend to the encoder's output.
void add_evolved_layers(const LayerSite& site) {
  if (site.source != nullptr) {
    DecoderCells(site.builder, site.weights, site.config, site.fields, *site.source).run(site.encoder);
  } else {
    EncoderCells(site.builder, site.weights, site.config, site.phase).run(site.encoder);
  }
}

Family evolved_stack(bool decoder) {
  Family family;
  family.base = "model";
  Settings& settings = family.settings;
  settings.vocabulary.otherwise = 0;
  settings.segments = {nullptr, 0};
  settings.hidden.otherwise = 512;
  settings.layers = {decoder ? "decoder_layers" : "encoder_layers", 6};
  settings.heads.otherwise = 8;
  settings.intermediate = {nullptr, 1};
  settings.epsilon_otherwise = 1e-6;
  settings.scaled_if.key = "scale_embedding";
  settings.sinusoids = Settings::Sinusoids::kSteps;
  family.layer = decoder ? "decoder.layers.{}" : "encoder.layers.{}";
  family.own = {add_evolved_layers, "they have convolutions"};
  family.block.causal = decoder;
  family.block.optional_biases = true;
  family.roles = {{Slot::kWords, "shared.weight"}, {Slot::kPositions, "positions.weight"}};
  return family;
}

}  // namespace

Family evolved_transformer() {
  Family family = evolved_stack(true);
  family.source = std::make_shared<const Family>(evolved_stack(false));
  family.model_types = {"evolved_transformer"};
  family.architectures = {"EvolvedTransformer"};
  Head tags = tag_head(), vectors{fb::TaskKind::embed, nullptr}, rows{fb::TaskKind::none, "EncoderModel"};
  tags.of_source = vectors.of_source = rows.of_source = true;
  family.heads = {
      {fb::TaskKind::none, "Model"},
      rows,
      vectors,
      tags,
      {fb::TaskKind::generate, "ForConditionalGeneration", Rows::kTokens, {{"lm_head", HeadLayer::Out::kVocabulary}}},
      source_classify_head()};
  return family;
}

}  // namespace bantam::convert
