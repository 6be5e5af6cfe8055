#include "quantize/round.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/access.h"
#include "graph/rows.h"
#include "graph/tensor_classes.h"
#include "quantize/int4.h"
#include "quantize/int8.h"

namespace bantam::convert {
namespace {

/// Fraction of the diagonal's mean that is added to the diagonal; without it, inputs that hardly vary would get large
/// corrections.
constexpr double kDamping = 0.01;

/// A triangular or square matrix of doubles.
class Square {
 public:
  explicit Square(size_t width) : width_(width), values_(width * width, 0.0) {}
  double* row(size_t i) { return values_.data() + i * width_; }
  const double* row(size_t i) const { return values_.data() + i * width_; }

 private:
  size_t width_;
  std::vector<double> values_;
};

/// to[j] -= factor * from[j]
void subtract(double* to, const double* from, double factor, size_t begin, size_t end) {
  for (size_t j = begin; j < end; ++j) to[j] -= factor * from[j];
}

/// Returns the upper triangular U with U^t U = inverse of `h` (symmetric, positive definite): h = M M^t with M upper
/// triangular, computed from the last column to the first, and U = inverse of M. `h` holds its lower triangle and is
/// overwritten.
Square inverse_factor(Square& h, size_t n) {
  // Column j of M is stored in row j of h: M[i][j] = h.row(j)[i], i <= j.
  for (size_t j = n; j-- > 0;) {
    double* column = h.row(j);
    const double pivot = std::sqrt(column[j]);
    for (size_t i = 0; i <= j; ++i) column[i] /= pivot;
    for (size_t k = 0; k < j; ++k) subtract(h.row(k), column, column[k], 0, k + 1);
  }
  // M U = 1, row by row from the last: U[i] = (e_i - sum over j > i of M[i][j] U[j]) / M[i][i].
  Square u(n);
  for (size_t i = n; i-- > 0;) {
    double* row = u.row(i);
    row[i] = 1;
    for (size_t j = i + 1; j < n; ++j) subtract(row, u.row(j), h.row(j)[i], j, n);
    const double pivot = h.row(i)[i];
    for (size_t j = i; j < n; ++j) row[j] /= pivot;
  }
  return u;
}

/// Columns in descending order of their input's mean square: the error of a column is corrected by all later ones.
std::vector<size_t> by_importance(const std::vector<double>& diagonal) {
  std::vector<size_t> order(diagonal.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return diagonal[a] > diagonal[b]; });
  return order;
}

/// Derived from the moments of the input: the order of a layer's columns, and how a column's error spreads to later
/// ones.
struct Spread {
  std::vector<double> importance;  // mean squares, damped
  std::vector<size_t> order;
  Square corrections;

  explicit Spread(const Moments& moments) : corrections(0) {
    const size_t n = moments.width;
    const double rows = static_cast<double>(std::max<uint64_t>(moments.rows, 1));
    double mean = 0;
    for (size_t i = 0; i < n; ++i) mean += moments.products[i * n + i] / rows / static_cast<double>(n);
    const double damping = mean > 0 ? mean * kDamping : 1.0;
    for (size_t i = 0; i < n; ++i) importance.push_back(moments.products[i * n + i] / rows + damping);
    order = by_importance(importance);
    Square h(n);
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b <= a; ++b) {
        const size_t i = std::max(order[a], order[b]);
        const size_t j = std::min(order[a], order[b]);
        h.row(a)[b] = moments.products[i * n + j] / rows + (a == b ? damping : 0.0);
      }
    }
    corrections = inverse_factor(h, n);
  }
};

/// Rounds one row: nearest(column, value) is the integer for a value, step(column) its multiplier.
template <class Nearest, class Step>
void round_row(const float* row, const Spread& spread, const Nearest& nearest, const Step& step, int8_t* out) {
  const size_t n = spread.order.size();
  std::vector<double> left(n);
  for (size_t i = 0; i < n; ++i) left[i] = row[spread.order[i]];
  for (size_t i = 0; i < n; ++i) {
    const size_t column = spread.order[i];
    const double* correction = spread.corrections.row(i);
    // A pruned weight stays 0; the others compensate for it.
    out[column] = row[column] == 0 ? int8_t{0} : nearest(column, left[i]);
    const double error = (left[i] - out[column] * step(column)) / correction[i];
    subtract(left.data(), correction, error, i + 1, n);
  }
}

int8_t int8_nearest(double value, double step) {
  return static_cast<int8_t>(std::nearbyint(std::clamp(value / step, -127.0, 127.0)));
}

/// The moments of the input divided by the column factors.
Moments divided(const Moments& moments, const std::vector<float>& factors) {
  Moments result = moments;
  for (size_t i = 0; i < factors.size(); ++i) {
    result.sums[i] /= double{factors[i]};
    for (size_t j = 0; j <= i; ++j) result.products[i * moments.width + j] /= double{factors[i]} * double{factors[j]};
  }
  return result;
}

std::vector<float> scaled(const Constant& constant, size_t rows, size_t columns) {
  std::vector<float> values(constant.values.begin(), constant.values.begin() + static_cast<ptrdiff_t>(rows * columns));
  for (size_t i = 0; i < values.size() && !constant.column_factors.empty(); ++i) {
    values[i] *= constant.column_factors[i % columns];
  }
  return values;
}

/// Adds to the bias the mean error that the rounded weights cause.
void correct_bias(Graph& graph, fb::OpT& op, const std::vector<float>& values, const Rounded& rounded, size_t group,
                  const Moments& moments) {
  if (op.inputs.size() < 3 || op.inputs[2] < 0 || moments.rows == 0) return;
  auto& slot = graph.constants[static_cast<size_t>(op.inputs[2])];
  auto corrected = std::make_shared<Constant>(*slot);
  const size_t n = moments.width;
  const size_t groups = rounded.factors.empty() ? 0 : (n + group - 1) / group;
  for (size_t r = 0; r < rounded.scales.size(); ++r) {
    double lost = 0;
    for (size_t k = 0; k < n; ++k) {
      const double factor = groups == 0 ? 1.0 : rounded.factors[r * groups + k / group];
      const double read = rounded.integers[r * n + k] * factor * double{rounded.scales[r]};
      lost += (double{values[r * n + k]} - read) * moments.sums[k];
    }
    corrected->values[r] = static_cast<float>(corrected->values[r] + lost / static_cast<double>(moments.rows));
  }
  slot = std::move(corrected);
}

/// The name of the f32 activation `x`, or of which `x` is the i8 form.
std::string source_name(const Graph& graph, int32_t x) {
  const std::string& name = tensor(graph, x).name;
  const bool copy = name.size() > 3 && name.compare(name.size() - 3, 3, ".i8") == 0;
  return copy ? name.substr(0, name.size() - 3) : name;
}

/// A matrix of integers, and the activation that it is multiplied with.
struct Met {
  int32_t x = -1, matrix = -1;  // -1: the op has none
};

/// Returns the input and the integer matrix of a linear layer, or of the first layer of experts: each expert processes
/// only some rows, but is treated as if it processed all of them.
Met met_by(const Graph& graph, const fb::OpT& op) {
  const bool experts = op.attributes.type == fb::OpAttributes::Experts;
  if (!experts && op.attributes.type != fb::OpAttributes::Linear) return {};
  const int32_t matrix = multiplied_by(op).front();
  return is_rounded(tensor(graph, matrix).type) ? Met{op.inputs[0], matrix} : Met{};
}

}  // namespace

void Moments::add(const float* x) {
  for (size_t i = 0; i < width; ++i) {
    const double value = x[i];
    double* row = products.data() + i * width;
    sums[i] += value;
    for (size_t j = 0; j <= i; ++j) row[j] += value * double{x[j]};
  }
  ++rows;
}

std::vector<std::string> rounded_inputs(const Graph& graph, const TypeOptions& options) {
  Graph typed = clone(graph);
  choose_types(typed, options);
  std::vector<std::string> names;
  for (const auto& op : main_subgraph(typed).ops) {
    const Met met = met_by(typed, *op);
    if (met.matrix < 0) continue;
    const std::string& name = tensor(typed, met.x).name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Rounded round_matrix(const std::vector<float>& values, size_t rows, fb::DType type, size_t group,
                     const Moments& moments) {
  const Spread spread(moments);
  const size_t n = moments.width;
  Rounded result;
  result.integers.resize(rows * n);
  result.scales.resize(rows);
  for (size_t r = 0; r < rows; ++r) {
    const float* row = values.data() + r * n;
    int8_t* out = result.integers.data() + r * n;
    if (type == fb::DType::i4) {
      const Int4Scales scales = int4_scales(row, n, group, spread.importance.data());
      const auto step = [&](size_t column) { return double{scales.scale} * scales.factors[column / group]; };
      round_row(
          row, spread, [&](size_t column, double v) { return int4_nearest(v, step(column)); }, step, out);
      result.scales[r] = scales.scale;
      result.factors.insert(result.factors.end(), scales.factors.begin(), scales.factors.end());
    } else {
      // Rounding to compensate for others may make the sum of four weights too large.
      constexpr float kStep = 1.01F;
      for (float scale = linear_scale(row, n);; scale *= kStep) {
        const double wide = scale;
        const auto step = [wide](size_t) { return wide; };
        round_row(
            row, spread, [wide](size_t, double v) { return int8_nearest(v, wide); }, step, out);
        result.scales[r] = scale;
        if (n < kFittedInputs || fits_words(out, n)) break;
      }
    }
  }
  return result;
}

void round_weights(Graph& graph, const InputMoments& moments, const std::function<void(double)>& progress) {
  hold_values(graph);
  const auto& ops = main_subgraph(graph).ops;
  std::map<int32_t, size_t> readers;  // for each matrix
  for (const auto& op : ops) for_each_read(*op, [&](int32_t t) { ++readers[t]; });
  for (size_t i = 0; i < ops.size(); ++i) {
    fb::OpT& op = *ops[i];
    progress(static_cast<double>(i) / static_cast<double>(ops.size()));
    const Met met = met_by(graph, op);
    if (met.matrix < 0) continue;
    const fb::TensorT& weight = tensor(graph, met.matrix);
    const auto found = moments.find(source_name(graph, met.x));
    if (found == moments.end() || readers[met.matrix] != 1) continue;
    auto& slot = graph.constants[static_cast<size_t>(met.matrix)];
    const Moments input = divided(found->second, slot->column_factors);
    const auto count = static_cast<size_t>(rows(weight));
    const std::vector<float> values = scaled(*slot, count, input.width);
    const Rounded rounded = round_matrix(values, count, weight.type, weight.group, input);
    if (op.attributes.type == fb::OpAttributes::Linear) correct_bias(graph, op, values, rounded, weight.group, input);
    auto decided = std::make_shared<Constant>(*slot);
    decided->rounded = std::make_shared<const Rounded>(rounded);
    slot = std::move(decided);
  }
}

}  // namespace bantam::convert
