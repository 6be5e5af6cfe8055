#include "quantize/static.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/size.h"
#include "graph/access.h"
#include "graph/rows.h"
#include "quantize/int8.h"
#include "quantize/numbers.h"

namespace bantam::convert {
namespace {

/// The meaning of an i8 activation: value = (stored - zero) * scale of its column.
struct Steps {
  std::vector<double> scale;
  int32_t zero = 0;
};

/// Sums before a norm, and sums of a layer, may exceed the calibrated range by this factor before they are clamped.
constexpr double kMargin = 2.0;
/// Tables with fewer rows are stored in 16 bits: segment types take little space and are part of every token.
constexpr uint64_t kSmallTable = 64;
/// Exponent of an activation's column range in the scales of a norm's output; the rest is its weights'.
constexpr double kAlpha = 0.75;
/// Limit of the bias in steps of the sum, far inside 32 bits.
constexpr double kMostBias = 1 << 28;
/// Number of steps in the largest bias of a layer that has only zeros: as many as sums have, so that no shift loses
/// them.
constexpr double kBiasSteps = 1 << 15;
/// 2^26 / ln 2: converts scores to powers of two.
constexpr double kScoreUnit = 67108864.0 * 1.4426950408889634;

double largest(const ColumnRange& range) {
  double most = 0;
  for (size_t i = 0; i < range.low.size(); ++i) {
    most = std::max({most, std::fabs(double{range.low[i]}), std::fabs(double{range.high[i]})});
  }
  return most;
}

std::vector<double> column_maxima(const ColumnRange& range) {
  std::vector<double> maxima(range.low.size());
  for (size_t i = 0; i < maxima.size(); ++i) {
    maxima[i] = std::max(std::fabs(double{range.low[i]}), std::fabs(double{range.high[i]}));
  }
  return maxima;
}

/// An int8 layer: its weights, the value of one step of each output's sum, and the sums of the weights.
struct Layer {
  int32_t weights;
  std::vector<double> step;
  std::vector<int64_t> sums;
  std::vector<double> bias;   // 0 if there is none
  std::vector<bool> is_zero;  // the sum consists of the bias only: the row was pruned, or is dead
};

/// A row of zeros may have any step: use the largest of the other rows, since all factors of a layer are rounded with
/// one shift.
void choose_steps_of_zeros(Layer& layer) {
  double most = 0;
  double bias = 1e-3;
  for (size_t r = 0; r < layer.step.size(); ++r) {
    if (!layer.is_zero[r]) most = std::max(most, layer.step[r]);
    bias = std::max(bias, std::fabs(layer.bias[r]));
  }
  if (most == 0) most = bias / kBiasSteps;
  for (size_t r = 0; r < layer.step.size(); ++r) {
    if (layer.is_zero[r]) layer.step[r] = std::max(most, std::fabs(layer.bias[r]) / kMostBias);
  }
}

class StaticForm {
 public:
  StaticForm(Graph& graph, const StaticRanges& ranges)
      : graph_(graph), ranges_(ranges), steps_(graph.model.tensors.size()) {}

  void run() {
    auto& ops = main_subgraph(graph_).ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      fb::OpT& op = *ops[i];
      op.outputs.resize(op.attributes.type == fb::OpAttributes::SplitHeads ? 3 : 2, -1);
      if (shapes_output(op)) continue;  // they process an f32 output
      op.numerics = fb::Numerics::static_int;
      op.integer = std::make_unique<fb::IntegerT>();
      if (!op.epilogue) op.epilogue = std::make_unique<fb::EpilogueT>();
      rewrite(op);
    }
    store_outputs();
  }

 private:
  void rewrite(fb::OpT& op) {
    switch (op.attributes.type) {
      case fb::OpAttributes::Embed:
        return embed(op);
      case fb::OpAttributes::Linear:
        return linear(op);
      case fb::OpAttributes::SplitHeads:
        return split(op);
      case fb::OpAttributes::Attention:
        return attention(op);
      case fb::OpAttributes::Pool:
        return pool(op);
      default:
        throw Error(ExitCode::kInternal, op.name + " has no integer form");
    }
  }

  const std::string& name(int32_t t) const { return tensor(graph_, t).name; }
  size_t columns(int32_t t) const { return in_memory(width(tensor(graph_, t))); }
  Steps& steps(int32_t t) { return steps_[static_cast<size_t>(t)]; }

  int32_t add_constant(const std::string& name, fb::DType type, std::vector<int32_t> numbers,
                       std::vector<float> values = {}) {
    fb::TensorT added;
    added.name = name;
    added.type = type;
    added.shape = {fb::Dim(-1, 0, static_cast<int32_t>(std::max(numbers.size(), values.size())), 1)};
    const int32_t index = add_tensor(graph_, std::move(added));
    auto constant = std::make_shared<Constant>();
    constant->numbers = std::move(numbers);
    constant->values = std::move(values);
    graph_.constants[static_cast<size_t>(index)] = std::move(constant);
    steps_.emplace_back();
    return index;
  }
  int32_t add_vector(const std::string& name, const std::vector<double>& values) {
    return add_constant(name, fb::DType::f32, {}, std::vector<float>(values.begin(), values.end()));
  }

  /// Makes `t` i8 with these steps.
  void fix(int32_t t, Steps meaning) {
    fb::TensorT& activation = tensor(graph_, t);
    activation.type = fb::DType::i8;
    activation.scale_kind = fb::ScaleKind::fixed;
    steps(t) = std::move(meaning);
  }
  bool is_fixed(int32_t t) const { return tensor(graph_, t).scale_kind == fb::ScaleKind::fixed; }

  std::vector<const fb::OpT*> readers(int32_t t) const {
    std::vector<const fb::OpT*> result;
    for (const auto& op : main_subgraph(graph_).ops) {
      bool reads = false;
      for_each_read(*op, [&](int32_t read) { reads = reads || read == t; });
      if (reads) result.push_back(op.get());
    }
    return result;
  }
  /// Returns true if no op computes with `t`: nothing reads it but ops that shape outputs.
  bool ends(int32_t t) const {
    for (const fb::OpT* op : readers(t)) {
      if (!shapes_output(*op)) return false;
    }
    return true;
  }

  /// Maximum |weight| of each column over all layers that read `t`; 0 if there is none.
  std::vector<double> weight_maxima(int32_t t) const {
    std::vector<double> most(columns(t), 0);
    for (const fb::OpT* op : readers(t)) {
      if (op->attributes.type == fb::OpAttributes::Pool) {
        const std::vector<double> behind = weight_maxima(op->outputs[0]);
        for (size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], behind[i]);
      }
      if (op->attributes.type != fb::OpAttributes::Linear || op->inputs[0] != t) continue;
      const std::vector<float>& values = graph_.constants[static_cast<size_t>(op->inputs[1])]->values;
      for (size_t i = 0; i < values.size(); ++i) {
        most[i % most.size()] = std::max(most[i % most.size()], std::fabs(double{values[i]}));
      }
    }
    return most;
  }

  /// The scales of a norm's output, which are folded into the columns of the weights that read it: a compromise between
  /// one scale for all columns, which suits the weights, and one per column, which suits the activation and the
  /// residual (SmoothQuant, arXiv 2211.10438).
  Steps norm_steps(int32_t t) const {
    const std::vector<double> maxima = column_maxima(ranges_.reach(name(t)));
    const std::vector<double> weights = weight_maxima(t);
    Steps result;
    double most = 0;
    for (size_t i = 0; i < maxima.size(); ++i) {
      const double a = std::max(maxima[i], 1e-6);
      const double w = std::max(weights[i], 1e-6);
      // a^0.75 / w^0.25 by square roots, which are correctly rounded on all machines.
      static_assert(kAlpha == 0.75, "");
      const double factor = std::sqrt(a) * std::sqrt(std::sqrt(a)) / std::sqrt(std::sqrt(w));
      result.scale.push_back(factor);
      most = std::max(most, a / factor);
    }
    for (double& scale : result.scale) scale *= most / 127;
    return result;
  }

  /// Folds the input's scales into the weights and stores them in int8.
  Layer fold(const fb::OpT& op) {
    const int32_t x = op.inputs[0];
    Layer layer;
    layer.weights = op.inputs[1];
    const Constant& source = *graph_.constants[static_cast<size_t>(layer.weights)];
    fb::TensorT& tensor_of_weights = tensor(graph_, layer.weights);
    const size_t n = in_memory(rows(tensor_of_weights));
    const size_t k = in_memory(width(tensor_of_weights));
    const Steps& input = steps(x);
    layer.bias.assign(n, 0);
    if (op.inputs.size() > 2 && op.inputs[2] >= 0) {
      const std::vector<float>& bias = graph_.constants[static_cast<size_t>(op.inputs[2])]->values;
      layer.bias.assign(bias.begin(), bias.end());
    }
    auto folded = std::make_shared<Constant>(source);
    folded->numbers.resize(n * k);
    std::vector<float> row(k);
    std::vector<int8_t> stored(k);
    for (size_t r = 0; r < n; ++r) {
      const float* from = source.values.data() + r * k;
      for (size_t i = 0; i < k; ++i) row[i] = static_cast<float>(double{from[i]} * input.scale[i]);
      float scale = linear_scale(row.data(), k);
      scale = std::max(scale, static_cast<float>(std::fabs(layer.bias[r]) / kMostBias));
      int8_quantize(row.data(), k, scale, stored.data());
      int64_t sum = 0;
      for (size_t i = 0; i < k; ++i) {
        folded->numbers[r * k + i] = int32_t{stored[i]};
        sum += stored[i];
        const double read = stored[i] * double{scale} / input.scale[i];
        tensor_of_weights.error =
            std::max(tensor_of_weights.error, static_cast<float>(std::fabs(read - double{from[i]})));
      }
      layer.step.push_back(double{scale});
      layer.sums.push_back(sum);
      layer.is_zero.push_back(std::all_of(stored.begin(), stored.end(), [](int8_t number) { return number == 0; }));
    }
    choose_steps_of_zeros(layer);
    tensor_of_weights.type = fb::DType::i8;
    tensor_of_weights.scale_kind = fb::ScaleKind::fixed;
    graph_.constants[static_cast<size_t>(layer.weights)] = std::move(folded);
    return layer;
  }

  /// Sets inputs[2] to the bias plus `shift`, minus the contribution of the input's zero point, in steps of the sums.
  void set_bias(fb::OpT& op, const Layer& layer, const std::vector<double>& shift) {
    constexpr double kMost = 1 << 30;
    std::vector<int32_t> bias;
    for (size_t i = 0; i < layer.step.size(); ++i) {
      const double real = layer.bias[i] + (shift.empty() ? 0 : shift[i]);
      const double zero = static_cast<double>(layer.sums[i]) * steps(op.inputs[0]).zero;
      bias.push_back(static_cast<int32_t>(round_to(real / layer.step[i] - zero, kMost)));
    }
    op.inputs[2] = add_constant(op.name + ".bias", fb::DType::i32, std::move(bias));
  }

  /// Sets the factors that convert sums to steps of `scale`. `seen`: the largest |value| of each output in calibration.
  void set_requantise(fb::OpT& op, const Layer& layer, const std::vector<double>& scale,
                      const std::vector<double>& seen) {
    double most = 1;
    for (size_t i = 0; i < scale.size(); ++i) most = std::max(most, kMargin * seen[i] / layer.step[i]);
    uint32_t shift = 0;
    while (std::ldexp(most, -static_cast<int>(shift)) > 32767) ++shift;
    std::vector<double> factors;
    for (size_t i = 0; i < scale.size(); ++i) {
      factors.push_back(std::ldexp(layer.step[i] / scale[i], static_cast<int>(shift)));
    }
    Factors rounded = to_factors(factors, op.name);
    op.integer->pre_shift = static_cast<uint8_t>(shift);
    op.integer->post_shift = static_cast<uint8_t>(rounded.shift);
    name_input(op, op.integer->multiplier,
               add_constant(op.name + ".multiplier", fb::DType::i16, std::move(rounded.multiplier)));
  }

  /// Sets the norm at the end of `op`, whose sums h have steps of `step`.
  void set_norm(fb::OpT& op, double step) {
    const int32_t y = op.outputs[0];
    const size_t n = columns(y);
    const Steps output = norm_steps(y);
    const auto values = [&](int32_t t, float otherwise) {
      return t < 0 ? std::vector<float>(n, otherwise) : graph_.constants[static_cast<size_t>(t)]->values;
    };
    const std::vector<float> gamma = values(named_input(op, op.epilogue->gamma), 1.0F);
    const std::vector<float> beta = values(named_input(op, op.epilogue->beta), 0.0F);
    std::vector<double> factors;
    const double root = std::sqrt(static_cast<double>(n));
    for (size_t i = 0; i < n; ++i) factors.push_back(double{gamma[i]} * root / output.scale[i] / 32768);
    Factors rounded = to_factors(factors, op.name);
    // beta is at most a few thousand output steps: the limit is far outside i8 and within 31 bits.
    const double most = std::ldexp(1.0, 29);
    std::vector<int32_t> shifts;
    for (size_t i = 0; i < n; ++i) {
      const double b = double{beta[i]} / output.scale[i];
      shifts.push_back(static_cast<int32_t>(round_to(std::ldexp(b, static_cast<int>(rounded.shift)), most)));
    }
    name_input(op, op.epilogue->gamma, add_constant(op.name + ".gamma", fb::DType::i16, std::move(rounded.multiplier)));
    name_input(op, op.epilogue->beta, add_constant(op.name + ".beta", fb::DType::i32, std::move(shifts)));
    op.integer->norm_shift = static_cast<uint8_t>(rounded.shift);
    const double epsilon = double{op.epilogue->epsilon} * static_cast<double>(n) / (step * step);
    op.integer->epsilon = static_cast<uint64_t>(std::max<int64_t>(1, round_to(epsilon, 1e15)));
    if (const int32_t added_rows = named_input(op, op.epilogue->residual); added_rows >= 0) {
      std::vector<double> residual;
      for (const double scale : steps(added_rows).scale) residual.push_back(scale / step);
      Factors added = to_factors(residual, op.name);
      op.integer->residual_shift = static_cast<uint8_t>(added.shift);
      name_input(op, op.integer->residual_multiplier,
                 add_constant(op.name + ".residual", fb::DType::i16, std::move(added.multiplier)));
    }
    fix(y, output);
  }

  /// The step of the sums before the norm of `op`.
  double sum_step(const fb::OpT& op) const {
    return std::max(kMargin * largest(ranges_.all(name(op.outputs[0]) + ".sum")) / 32767, 1e-9);
  }

  void embed(fb::OpT& op) {
    const double step = sum_step(op);
    for (auto& table : op.attributes.AsEmbed()->tables) {
      const int32_t t = named_input(op, table->tensor);
      const auto source = graph_.constants[static_cast<size_t>(t)];
      fb::TensorT& stored = tensor(graph_, t);
      const size_t n = in_memory(rows(stored));
      const size_t k = in_memory(width(stored));
      const bool wide = n < kSmallTable;
      const double limit = wide ? 32767 : 127;
      auto constant = std::make_shared<Constant>();
      constant->embedding = true;
      constant->numbers.resize(n * k);
      std::vector<double> factors;
      for (size_t r = 0; r < n; ++r) {
        const float* row = source->values.data() + r * k;
        double most = 0;
        for (size_t i = 0; i < k; ++i) most = std::max(most, std::fabs(double{row[i]}));
        const double scale = most > 0 ? most / limit : 1.0;
        for (size_t i = 0; i < k; ++i) {
          const auto number = static_cast<int32_t>(round_to(double{row[i]} / scale, limit));
          constant->numbers[r * k + i] = number;
          stored.error = std::max(stored.error, static_cast<float>(std::fabs(number * scale - double{row[i]})));
        }
        factors.push_back(most > 0 ? scale * double{table->scale} / step : 0.0);
      }
      Factors rounded = to_factors(factors, stored.name);
      stored.type = wide ? fb::DType::i16 : fb::DType::i8;
      stored.scale_kind = fb::ScaleKind::fixed;
      graph_.constants[static_cast<size_t>(t)] = std::move(constant);
      table->shift = static_cast<uint8_t>(rounded.shift);
      const std::string prefix = stored.name;
      name_input(op, table->multiplier,
                 add_constant(prefix + ".multiplier", fb::DType::i16, std::move(rounded.multiplier)));
    }
    set_norm(op, step);
  }

  void linear(fb::OpT& op) {
    const int32_t y = op.outputs[0];
    const size_t n = columns(y);
    const Layer layer = fold(op);
    if (op.epilogue->norm != fb::NormKind::none) {
      const double step = sum_step(op);
      set_bias(op, layer, {});
      const bool residual = op.epilogue->residual >= 0;
      set_requantise(op, layer, std::vector<double>(n, step),
                     column_maxima(ranges_.all(name(y) + (residual ? ".linear" : ".sum"))));
      return set_norm(op, step);
    }
    if (op.epilogue->activation != fb::ActivationKind::none) return function(op, layer);
    if (ends(y)) {
      set_bias(op, layer, {});
      name_input(op, op.integer->multiplier, add_vector(op.name + ".scale", layer.step));
      return;
    }
    Steps output = plain_steps(y, layer);
    set_bias(op, layer, {});
    set_requantise(op, layer, output.scale, column_maxima(ranges_.all(name(y))));
    fix(y, std::move(output));
  }

  /// Sets an activation function by table.
  void function(fb::OpT& op, const Layer& layer) {
    const int32_t y = op.outputs[0];
    const size_t n = columns(y);
    const ColumnRange& before = ranges_.reach(name(y) + ".linear");
    FunctionTable table = make_table(op.epilogue->activation, *std::min_element(before.low.begin(), before.low.end()),
                                     *std::max_element(before.high.begin(), before.high.end()),
                                     tensor(graph_, y).role == fb::Role::output);
    // v = x / step - low / step - 128
    set_bias(op, layer, std::vector<double>(n, -table.low - 128 * table.step));
    // Sums must cover the range of the table, and nothing beyond it: even small outputs have sums near the offset.
    set_requantise(op, layer, std::vector<double>(n, table.step), std::vector<double>(n, 65 * table.step));
    name_input(op, op.integer->table, add_constant(op.name + ".table", fb::DType::i8, std::move(table.values)));
    op.epilogue->activation = fb::ActivationKind::none;  // the table replaces it
    fix(y, {std::vector<double>(n, table.scale), table.zero});
  }

  /// The steps of a layer's output without a function: for queries and keys one scale per head, for values and
  /// everything else one per column. The output of a row of zeros is no finer than its sum.
  Steps plain_steps(int32_t y, const Layer& layer) const {
    Steps result;
    for (const double most : column_maxima(ranges_.reach(name(y)))) result.scale.push_back(std::max(most, 1e-6) / 127);
    for (size_t i = 0; i < result.scale.size(); ++i) {
      if (layer.is_zero[i]) result.scale[i] = std::max(result.scale[i], layer.step[i]);
    }
    for (const fb::OpT* op : readers(y)) {
      const fb::SplitHeadsT* split = op->attributes.AsSplitHeads();
      if (split == nullptr) continue;
      const size_t first = 0;
      const size_t heads = size_t{split->heads} + split->kv_heads;
      for (size_t h = first; h < heads; ++h) {
        double* const begin = result.scale.data() + h * split->head_width;
        double* const end = begin + split->head_width;
        std::fill(begin, end, *std::max_element(begin, end));
      }
    }
    return result;
  }

  void split(fb::OpT& op) {
    const fb::SplitHeadsT& shape = *op.attributes.AsSplitHeads();
    const std::vector<double>& scale = steps(op.inputs[0]).scale;
    auto begin = scale.begin();
    const uint32_t heads[] = {shape.heads, shape.kv_heads, shape.kv_heads};
    for (size_t i = 0; i < 3; ++i) {
      const auto end = begin + static_cast<std::ptrdiff_t>(size_t{heads[i]} * shape.head_width);
      if (op.outputs[i] >= 0) fix(op.outputs[i], {std::vector<double>(begin, end), 0});
      begin = end;
    }
    if (op.outputs[0] >= 0) tensor(graph_, op.outputs[0]).layout = fb::Layout::rows;
  }

  void attention(fb::OpT& op) {
    const fb::AttentionT& shape = *op.attributes.AsAttention();
    const std::vector<double>& q = steps(op.inputs[0]).scale;
    const std::vector<double>& k = steps(op.inputs[1]).scale;
    const std::vector<double>& v = steps(op.inputs[2]).scale;
    const uint32_t group = shape.heads / shape.kv_heads;
    std::vector<int32_t> multipliers;
    std::vector<double> scale;
    for (uint32_t h = 0; h < shape.heads; ++h) {
      const size_t kv = size_t{h / group} * shape.head_width;
      const double unit = q[size_t{h} * shape.head_width] * k[kv] * double{shape.scale} * kScoreUnit;
      multipliers.push_back(static_cast<int32_t>(std::max<int64_t>(1, round_to(unit, 2147483647.0))));
      for (uint32_t i = 0; i < shape.head_width; ++i) scale.push_back(v[kv + i]);
    }
    name_input(op, op.integer->multiplier,
               add_constant(op.name + ".multiplier", fb::DType::i32, std::move(multipliers)));
    fix(op.outputs[0], {std::move(scale), 0});
  }

  void pool(fb::OpT& op) {
    const fb::PoolT& pool = *op.attributes.AsPool();
    const bool sums = pool.kind == fb::PoolKind::mean || pool.kind == fb::PoolKind::sum || pool.l2;
    if (!sums && !ends(op.outputs[0])) return fix(op.outputs[0], steps(op.inputs[0]));
    name_input(op, op.integer->multiplier, add_vector(op.name + ".scale", steps(op.inputs[0]).scale));
  }

  /// Stores outputs that became i8 as f32 in addition.
  void store_outputs() {
    auto& ops = main_subgraph(graph_).ops;
    const size_t count = graph_.model.tensors.size();
    for (size_t t = 0; t < count; ++t) {
      const auto y = static_cast<int32_t>(t);
      if (tensor(graph_, y).role != fb::Role::output || !is_fixed(y)) continue;
      // The output keeps its tensor and name; all other readers switch to the i8 rows.
      fb::TensorT rows_i8(tensor(graph_, y));
      rows_i8.name += ".i8";
      rows_i8.role = fb::Role::activation;
      const int32_t x = add_tensor(graph_, std::move(rows_i8));
      steps_.push_back(steps(y));
      for (auto& op : ops) {
        for_each_read(*op, std::function<void(int32_t&)>([&](int32_t& slot) { slot = slot == y ? x : slot; }));
        for_each_write(*op, std::function<void(int32_t&)>([&](int32_t& slot) { slot = slot == y ? x : slot; }));
      }
      fb::TensorT& output = tensor(graph_, y);
      output.type = fb::DType::f32;
      output.scale_kind = fb::ScaleKind::none;
      auto row = std::make_unique<fb::OpT>();
      row->name = output.name + ".store";
      row->numerics = fb::Numerics::static_int;
      row->inputs = {x};
      row->outputs = {y, -1};
      row->attributes.Set(fb::RowT{});
      row->epilogue = std::make_unique<fb::EpilogueT>();
      row->integer = std::make_unique<fb::IntegerT>();
      name_input(*row, row->integer->multiplier, add_vector(output.name + ".scale", steps(x).scale));
      if (steps(x).zero != 0) throw Error(ExitCode::kInternal, output.name + " is stored with an offset");
      ops.push_back(std::move(row));
    }
  }

  Graph& graph_;
  const StaticRanges& ranges_;
  std::vector<Steps> steps_;  // by tensor
};

}  // namespace

void make_static(Graph& graph, const StaticRanges& ranges) {
  hold_values(graph);
  StaticForm(graph, ranges).run();
}

}  // namespace bantam::convert
