#include "train/network.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "graph/access.h"
#include "graph/training.h"
#include "train/fake_quant.h"

namespace bantam::train {
namespace {

using convert::ExitCode;
using convert::Problems;

constexpr double kHidden = -1e30;

at::Tensor activate(const at::Tensor& x, fb::ActivationKind kind) {
  switch (kind) {
    case fb::ActivationKind::none:
      return x;
    case fb::ActivationKind::relu:
      return x.relu();
    case fb::ActivationKind::gelu:
      return at::gelu(x);
    case fb::ActivationKind::gelu_tanh:
      return at::gelu(x, "tanh");
    case fb::ActivationKind::tanh:
      return x.tanh();
    case fb::ActivationKind::sigmoid:
      return x.sigmoid();
    case fb::ActivationKind::silu:
      return at::silu(x);
    case fb::ActivationKind::quick_gelu:
      return x * (1.702 * x).sigmoid();
    case fb::ActivationKind::exp:
      return x.exp();
    case fb::ActivationKind::relu_squared:
      return x.relu().square();
    case fb::ActivationKind::softplus:
      return at::softplus(x);
  }
  return x;
}

/// Returns the mask [B, 1, 1, T] to add to scores: 0 if a key is a token, (nearly) minus infinity if it is padding.
at::Tensor hides_padding(const at::Tensor& mask) {
  if (!mask.defined()) return {};
  return torch::zeros(mask.sizes()).masked_fill_(mask.logical_not(), kHidden).unsqueeze(1).unsqueeze(1);
}

/// Returns the position of the key minus that of the query, i64 [T, T].
at::Tensor distances(int64_t rows) {
  const at::Tensor places = torch::arange(rows);
  return places.unsqueeze(0) - places.unsqueeze(1);
}

/// One pass over the graph and, for an encoder-decoder, over its source; computes the values of tensors in order.
class Pass {
 public:
  Pass(const convert::Graph& graph, const Parameters& parameters, const Rows& rows, const ForwardOptions& options)
      : graph_(graph),
        parameters_(parameters),
        rows_(rows),
        options_(options),
        values_(graph.constants.size()),
        padding_(hides_padding(rows.mask)),
        source_padding_(hides_padding(rows.source_mask)) {}

  Forward run() {
    for (const auto& op : graph_.model.subgraphs.front()->ops) execute(*op);
    for (const auto& output : graph_.model.outputs) out_.outputs.push_back(value(output->tensor));
    if (options_.states) out_.hidden.push_back(last_hidden_);
    return std::move(out_);
  }

 private:
  const at::Tensor& value(int32_t tensor) const { return values_[static_cast<size_t>(tensor)]; }
  static bool of_source(const fb::OpT& op) { return convert::phase_of(op) == fb::Phase::source; }

  void execute(const fb::OpT& op) {
    switch (op.attributes.type) {
      case fb::OpAttributes::Embed:
        put(op, embed(op));
        break;
      case fb::OpAttributes::Linear:
        put(op, linear(op));
        break;
      case fb::OpAttributes::Features:
        put(op, rows_.features);
        break;
      case fb::OpAttributes::Row:
        put(op, value(op.inputs[0]));
        break;
      case fb::OpAttributes::SplitHeads:
        split(op, *op.attributes.AsSplitHeads());
        break;
      case fb::OpAttributes::Attention:
        put(op, attention(op, *op.attributes.AsAttention()));
        break;
      case fb::OpAttributes::Pool:
        put(op, pool(op, *op.attributes.AsPool()));
        break;
      case fb::OpAttributes::Slice: {
        const fb::SliceT& slice = *op.attributes.AsSlice();
        put(op, value(op.inputs[0]).narrow(-1, slice.begin, slice.width));
        break;
      }
      default:
        break;  // refused by the constructor of Network
    }
  }

  at::Tensor drop(const at::Tensor& x) const {
    return options_.dropout > 0 ? at::dropout(x, options_.dropout, true) : x;
  }

  /// Applies the operator's epilogue and stores its result. Dropout is where transformers has it: before a residual is
  /// added, after the embeddings' norm, and on attention probabilities.
  void put(const fb::OpT& op, at::Tensor x) {
    bool hidden = op.attributes.type == fb::OpAttributes::Embed;
    const convert::EpilogueSpec epilogue = convert::epilogue_of(op);
    x = activate(x, epilogue.activation);
    if (epilogue.gate >= 0) x = x * value(epilogue.gate);
    if (epilogue.residual >= 0) {
      x = drop(x) + value(epilogue.residual);
      hidden = true;
    }
    if (epilogue.norm != fb::NormKind::none) x = norm(x, epilogue);
    if (op.attributes.type == fb::OpAttributes::Embed) x = drop(x);
    if (hidden) last_hidden_ = x;
    values_[static_cast<size_t>(op.outputs[0])] = std::move(x);
  }

  at::Tensor norm(const at::Tensor& x, const convert::EpilogueSpec& epilogue) const {
    const at::Tensor gamma = parameters_.of(epilogue.gamma);
    const at::Tensor beta = epilogue.beta >= 0 ? parameters_.of(epilogue.beta) : at::Tensor();
    const double epsilon = static_cast<double>(epilogue.epsilon);
    if (epilogue.norm == fb::NormKind::layer) return at::layer_norm(x, {x.size(-1)}, gamma, beta, epsilon);
    at::Tensor y = x;
    if (epilogue.norm == fb::NormKind::rms) y = x * (x.square().mean(-1, true) + epsilon).rsqrt();
    y = y * gamma;
    return beta.defined() ? y + beta : y;
  }

  at::Tensor embed(const fb::OpT& op) const {
    const at::Tensor& ids = of_source(op) ? rows_.source_ids : rows_.ids;
    at::Tensor sum;
    for (const auto& table : op.attributes.AsEmbed()->tables) {
      at::Tensor rows;
      const at::Tensor& weight = parameters_.of(convert::named_input(op, table->tensor));
      if (table->source == fb::IndexSource::positions) {
        rows = weight.narrow(0, table->offset, ids.size(1)).unsqueeze(0);
      } else if (table->source == fb::IndexSource::zero) {
        rows = weight.narrow(0, table->offset, 1).unsqueeze(0);
      } else {
        const at::Tensor& index = table->source == fb::IndexSource::ids ? ids : rows_.segments;
        rows = at::embedding(weight, table->offset == 0 ? index : index + table->offset);
      }
      // Each row of the table has its own scale, so quantizing the rows that are used is the same as quantizing the
      // table.
      if (options_.quantize != FakeQuant::kNone) rows = fake_quant_rows(rows);
      if (table->scale != 1.0F) rows = rows * static_cast<double>(table->scale);
      sum = sum.defined() ? sum + rows : rows;
    }
    return sum;
  }

  at::Tensor linear(const fb::OpT& op) {
    at::Tensor x = value(op.inputs[0]);
    at::Tensor weight = parameters_.of(op.inputs[1]);
    const Role role = parameters_.role_of(op.inputs[1]);
    if (options_.input_squares) out_.input_squares[op.inputs[1]] = mean_squares(x, of_source(op));
    if (options_.quantize != FakeQuant::kNone) {
      x = fake_quant_rows(x);
      const bool int4 = options_.quantize == FakeQuant::kInt4 && role == Role::kEncoderLinear;
      weight = int4 ? fake_quant_groups(weight, options_.group) : fake_quant_rows(weight);
    }
    const at::Tensor bias = op.inputs[2] >= 0 ? parameters_.of(op.inputs[2]) : at::Tensor();
    if (options_.precision == Precision::kF32) return at::linear(x, weight, bias);
    const at::Tensor y = at::linear(x.to(at::kBFloat16), weight.to(at::kBFloat16)).to(at::kFloat);
    return bias.defined() ? y + bias : y;
  }

  /// Returns the mean square of each column of x [B, T, K] (over tokens only, without padding) or [B, K].
  at::Tensor mean_squares(const at::Tensor& x, bool of_source) const {
    const at::NoGradGuard guard;
    if (x.dim() == 2) return x.square().mean(0);
    const at::Tensor& mask = of_source ? rows_.source_mask : rows_.mask;
    return x.reshape({-1, x.size(2)}).index({mask.reshape(-1)}).square().mean(0);
  }

  void split(const fb::OpT& op, const fb::SplitHeadsT& heads) {
    const at::Tensor& x = value(op.inputs[0]);
    const uint32_t counts[] = {heads.heads, heads.kv_heads, heads.kv_heads};
    int64_t begin = 0;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t width = int64_t{counts[i]} * heads.head_width;
      if (width == 0) continue;
      at::Tensor part = x.narrow(-1, begin, width).view({x.size(0), x.size(1), counts[i], heads.head_width});
      const bool normed = i < 2 && heads.norms >= 0, behind = normed && heads.norms_behind;
      const auto part_number = static_cast<int64_t>(i);
      if (normed && !behind) part = norm_heads(part, op, heads, part_number);
      part = part.transpose(1, 2);
      if (i < 2 && heads.rotary >= 0) part = turn(part, parameters_.of(convert::named_input(op, heads.rotary)));
      if (behind) part = norm_heads(part.transpose(1, 2).contiguous(), op, heads, part_number).transpose(1, 2);
      values_[static_cast<size_t>(op.outputs[i])] = part;
      begin += width;
    }
    if (options_.states) out_.hidden.push_back(last_hidden_);
  }

  /// Normalizes queries (part 0) or keys (1) [B, T, heads, W]: each head separately, or all heads of a token together.
  at::Tensor norm_heads(const at::Tensor& x, const fb::OpT& op, const fb::SplitHeadsT& heads, int64_t part) const {
    const at::Tensor y = heads.each_head ? x : x.flatten(2);
    const at::Tensor& table = parameters_.of(convert::named_input(op, heads.norms));
    const at::Tensor gamma = table.select(0, 2 * part).narrow(0, 0, y.size(-1));
    const at::Tensor beta = table.select(0, 2 * part + 1).narrow(0, 0, y.size(-1));
    const double epsilon = static_cast<double>(heads.epsilon);
    const bool rms = heads.norm == fb::NormKind::rms;
    return (rms ? y * (y.square().mean(-1, true) + epsilon).rsqrt() * gamma
                : at::layer_norm(y, {y.size(-1)}, gamma, beta, epsilon))
        .view(x.sizes());
  }

  /// Rotates x [B, heads, T, W] by the angles of its tokens' positions: elements i and i + w form a point.
  static at::Tensor turn(const at::Tensor& x, const at::Tensor& angles) {
    const int64_t w = angles.size(1) / 2, rows = x.size(2);
    const at::Tensor cosines = angles.narrow(0, 0, rows).narrow(1, 0, w),
                     sines = angles.narrow(0, 0, rows).narrow(1, w, w);
    const at::Tensor a = x.narrow(-1, 0, w), b = x.narrow(-1, w, w);
    return torch::cat({a * cosines - b * sines, b * cosines + a * sines, x.narrow(-1, 2 * w, x.size(-1) - 2 * w)}, -1);
  }

  /// Repeats the heads of keys or values for each of the query heads that share them.
  static at::Tensor spread(const at::Tensor& x, int64_t heads) {
    return x.size(1) == heads ? x : x.repeat_interleave(heads / x.size(1), 1);
  }

  /// Returns the mask [T, T] to add to scores, which hides keys by position; undefined if it hides nothing.
  at::Tensor hides_places(const fb::AttentionT& attributes, int64_t rows) {
    const bool causal = attributes.mask == fb::MaskKind::causal || attributes.mask == fb::MaskKind::causal_window;
    const bool window = attributes.mask == fb::MaskKind::window || attributes.mask == fb::MaskKind::causal_window;
    if (!causal && !window) return {};
    at::Tensor& made = masks_[{attributes.mask, window ? attributes.window : 0}];
    if (made.defined()) return made;
    const at::Tensor distance = distances(rows);
    at::Tensor hidden = torch::zeros({rows, rows}, torch::kBool);
    if (causal) hidden = distance > 0;
    if (window) hidden = hidden.logical_or(distance.abs() > static_cast<int64_t>(attributes.window));
    made = torch::zeros({rows, rows}).masked_fill_(hidden, kHidden);
    return made;
  }

  /// Returns the distance biases [heads, T, T].
  at::Tensor bias_of_distances(const at::Tensor& table, int64_t rows) const {
    const int64_t most = table.size(1) / 2;
    const at::Tensor index = distances(rows).clamp(-most, most) + most;
    return table.index_select(1, index.reshape(-1)).view({table.size(0), rows, rows});
  }

  /// Scores [B, heads, T, T] with the sink's score appended as one more key.
  at::Tensor with_sink(const fb::OpT& op, const fb::AttentionT& attributes, const at::Tensor& scores) const {
    if (attributes.sinks < 0) return scores;
    const at::Tensor sinks = parameters_.of(convert::named_input(op, attributes.sinks)).view({1, -1, 1, 1});
    return torch::cat({scores, sinks.expand({scores.size(0), -1, scores.size(2), 1})}, -1);
  }

  at::Tensor attention(const fb::OpT& op, const fb::AttentionT& attributes) {
    const at::Tensor& q = value(op.inputs[0]);
    const at::Tensor k = spread(value(op.inputs[1]), q.size(1)), v = spread(value(op.inputs[2]), q.size(1));
    at::Tensor scores = q.matmul(k.transpose(2, 3)) * static_cast<double>(attributes.scale);
    if (attributes.distance_bias >= 0) {
      scores =
          scores + bias_of_distances(parameters_.of(convert::named_input(op, attributes.distance_bias)), q.size(2));
    }
    const auto cap = static_cast<double>(attributes.soft_cap);
    if (cap > 0) scores = (scores / cap).tanh() * cap;
    scores = scores + (attributes.cross || of_source(op) ? source_padding_ : padding_);
    if (const at::Tensor hidden = hides_places(attributes, q.size(2)); hidden.defined()) scores = scores + hidden;
    const at::Tensor probabilities = with_sink(op, attributes, scores).softmax(-1).narrow(-1, 0, scores.size(-1));
    if (options_.states) out_.attention.push_back({q, k, v, probabilities});
    const at::Tensor y = drop(probabilities).matmul(v).transpose(1, 2);
    return y.reshape({y.size(0), y.size(1), -1});
  }

  /// Returns the row of each sequence at its place: x [B, T, C], places i64 [B], result [B, C].
  static at::Tensor at_rows(const at::Tensor& x, const at::Tensor& places) {
    return x.gather(1, places.view({-1, 1, 1}).expand({-1, 1, x.size(2)})).squeeze(1);
  }

  /// Returns the rows that are pooled, bool [B, T]: see Pool.skip_first and Pool.skip_id. One row is left at least.
  at::Tensor pooled_rows(const fb::PoolT& attributes) const {
    const at::Tensor places = torch::arange(rows_.mask.size(1)).unsqueeze(0);
    at::Tensor ends = rows_.mask.sum(1, true);
    if (attributes.skip_id >= 0) {
      const at::Tensor others = rows_.mask.logical_and(rows_.ids != attributes.skip_id);
      ends = at::where(others, places + 1, 1).amax(1, true);
    }
    const at::Tensor begins = (ends - 1).clamp_max(int64_t{attributes.skip_first});
    return (places >= begins).logical_and(places < ends);
  }

  at::Tensor pool(const fb::OpT& op, const fb::PoolT& attributes) const {
    const at::Tensor& x = value(op.inputs[0]);
    const at::Tensor rows = pooled_rows(attributes), mask = rows.unsqueeze(-1);
    at::Tensor y;
    switch (attributes.kind) {
      case fb::PoolKind::first:
        y = at_rows(x, rows.to(torch::kInt64).argmax(1));
        break;
      case fb::PoolKind::mean:
        y = (x * mask).sum(1) / mask.sum(1);
        break;
      case fb::PoolKind::sum:
        y = (x * mask).sum(1);
        break;
      case fb::PoolKind::max:
        y = x.masked_fill(mask.logical_not(), kHidden).amax(1);
        break;
      case fb::PoolKind::last:
        y = at_rows(x, at::where(rows, torch::arange(x.size(1)), 0).amax(1));
        break;
    }
    return attributes.l2 ? y / y.norm(2, -1, true).clamp_min(1e-12) : y;
  }

  const convert::Graph& graph_;
  const Parameters& parameters_;
  const Rows& rows_;
  const ForwardOptions& options_;
  std::vector<at::Tensor> values_;
  at::Tensor padding_, source_padding_;
  std::map<std::pair<fb::MaskKind, uint32_t>, at::Tensor> masks_;
  at::Tensor last_hidden_;
  Forward out_;
};

/// Stacks numbers of each member as i64 [B, T], padded with zeros; `mask`, if given: bool [B, T], true for real tokens.
at::Tensor side_by_side(const std::vector<const Encoded*>& members, std::vector<int32_t> Encoded::*numbers,
                        at::Tensor* mask) {
  size_t longest = 1;
  for (const Encoded* member : members) longest = std::max(longest, (member->*numbers).size());
  const std::vector<int64_t> shape = {static_cast<int64_t>(members.size()), static_cast<int64_t>(longest)};
  at::Tensor out = torch::zeros(shape, torch::kInt64);
  if (mask != nullptr) *mask = torch::zeros(shape, torch::kBool);
  for (size_t i = 0; i < members.size(); ++i) {
    const std::vector<int32_t>& from = members[i]->*numbers;
    std::copy(from.begin(), from.end(), out.data_ptr<int64_t>() + i * longest);
    if (mask != nullptr) std::fill_n(mask->data_ptr<bool>() + i * longest, from.size(), true);
  }
  return out;
}

/// Stacks the features of each member as f32 [B, T, n], padded with zeros; undefined if there are none.
at::Tensor features_of(const std::vector<const Encoded*>& members, int64_t tokens) {
  const Encoded& one = *members.front();
  if (one.features.empty()) return {};
  const size_t width = one.features.size() / one.ids.size();
  at::Tensor out = torch::zeros({static_cast<int64_t>(members.size()), tokens, static_cast<int64_t>(width)});
  const size_t stride = static_cast<size_t>(tokens) * width;
  for (size_t i = 0; i < members.size(); ++i) {
    std::copy(members[i]->features.begin(), members[i]->features.end(), out.data_ptr<float>() + i * stride);
  }
  return out;
}

}  // namespace

Rows pad(const std::vector<const Encoded*>& members) {
  Rows rows;
  rows.ids = side_by_side(members, &Encoded::ids, &rows.mask);
  rows.segments = side_by_side(members, &Encoded::segments, nullptr);
  const bool pairs = std::any_of(members.begin(), members.end(), [](const Encoded* e) { return !e->source.empty(); });
  if (!members.empty()) rows.features = features_of(members, rows.ids.size(1));
  if (pairs) rows.source_ids = side_by_side(members, &Encoded::source, &rows.source_mask);
  return rows;
}

Network::Network(const convert::Graph& graph, const Parameters& parameters) : graph_(graph), parameters_(parameters) {
  Problems problems;
  for (const auto& op : graph.model.subgraphs.front()->ops) {
    if (op->attributes.type == fb::OpAttributes::Attention) ++layers_;
    const std::string why = convert::why_untrained(*op);
    if (!why.empty()) {
      problems.add(ExitCode::kUnsupported, fmt::format("{}: training does not know {}", op->name, why));
    }
  }
  problems.raise();
}

Forward Network::run(const Rows& rows, const ForwardOptions& options) const {
  return Pass(graph_, parameters_, rows, options).run();
}

}  // namespace bantam::train
