// Runs operators on small tensors, to fold constants and to compute shapes, masks and indices of lookups. Definitions:
// https://onnx.ai/onnx/operators
#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "onnx/run.h"

namespace bantam::convert::onnx {
namespace {

HostTensor map_each(const HostTensor& x, bool whole, const std::function<double(double)>& f) {
  HostTensor out = like(x);
  out.whole = whole;
  for (size_t i = 0; i < x.size(); ++i) {
    if (whole) {
      out.ints.push_back(static_cast<int64_t>(f(x.at(i))));
    } else {
      out.floats.push_back(f(x.at(i)));
    }
  }
  return out;
}

int64_t whole_division(int64_t a, int64_t b) {
  if (b == 0) throw std::domain_error("a division by 0");
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}

int64_t of_integers(const std::string& op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  if (op == "Add") return wrap(x + y);
  if (op == "Sub") return wrap(x - y);
  if (op == "Mul") return wrap(x * y);
  if (op == "Div") return whole_division(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Mod") {
    if (b == 0) throw std::domain_error("a division by 0");
    const int64_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return static_cast<int64_t>(std::pow(static_cast<double>(a), static_cast<double>(b)));
}

double of_floats(const std::string& op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Mod") return std::fmod(a, b);
  return std::pow(a, b);
}

bool of_truths(const std::string& op, double a, double b) {
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "And") return a != 0 && b != 0;
  if (op == "Or") return a != 0 || b != 0;
  return (a != 0) != (b != 0);
}

const std::set<std::string> kArithmetic = {"Add", "Sub", "Mul", "Div", "Min", "Max", "Mod", "Pow"};
const std::set<std::string> kTruths = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor"};

HostTensor pair(const Run& run, const HostTensor& left, const HostTensor& right) {
  const std::vector<int64_t> dims = broadcast_dims(left.dims, right.dims);
  const HostTensor a = broadcast(left, dims), b = broadcast(right, dims);
  HostTensor out;
  out.dims = dims;
  const bool truths = kTruths.count(run.node.op) != 0;
  out.whole = truths || (a.whole && (b.whole || run.node.op == "Pow"));
  for (size_t i = 0; i < a.size(); ++i) {
    if (truths) {
      out.ints.push_back(of_truths(run.node.op, a.at(i), b.at(i)) ? 1 : 0);
    } else if (out.whole && b.whole) {
      out.ints.push_back(of_integers(run.node.op, a.ints[i], b.ints[i]));
    } else if (out.whole) {
      out.ints.push_back(static_cast<int64_t>(std::pow(a.at(i), b.at(i))));
    } else {
      out.floats.push_back(of_floats(run.node.op, a.at(i), b.at(i)));
    }
  }
  return out;
}

HostTensor cast(const Run& run) {
  const HostTensor& x = run.at(0);
  const auto to = static_cast<Type>(run.node.integer("to", 1));
  if (to == Type::boolean) return map_each(x, true, [](double v) { return v != 0 ? 1 : 0; });
  if (!is_float(to)) {
    if (x.whole) return x;
    return map_each(x, true, [](double v) { return std::clamp(std::trunc(v), -9.2e18, 9.2e18); });
  }
  // Round to the type's precision, so that eps and scales keep their last bits.
  return map_each(x, false,
                  [to](double v) { return to == Type::f64 ? v : static_cast<double>(static_cast<float>(v)); });
}

HostTensor reduce(const Run& run) {
  const HostTensor& x = run.at(0);
  std::set<size_t> axes;
  for (const int64_t axis : run.list(1, "axes")) axes.insert(axis_of_rank(axis, x.dims.size()));
  if (axes.empty()) {
    if (run.node.integer("noop_with_empty_axes", 0) != 0) return x;
    for (size_t i = 0; i < x.dims.size(); ++i) axes.insert(i);
  }
  const bool keep = run.node.integer("keepdims", 1) != 0;
  std::vector<int64_t> kept, dims;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    const bool gone = axes.count(i) != 0;
    kept.push_back(gone ? 1 : x.dims[i]);
    if (!gone || keep) dims.push_back(gone ? 1 : x.dims[i]);
  }
  const size_t count = count_of(kept);
  std::vector<double> values(count, 0);
  std::vector<size_t> terms(count, 0);
  std::vector<int64_t> index(x.dims.size(), 0);
  const std::string& op = run.node.op;
  for (size_t i = 0; i < x.size(); ++i) {
    size_t to = 0;
    for (size_t d = 0; d < kept.size(); ++d)
      to = to * static_cast<size_t>(kept[d]) + (kept[d] == 1 ? 0 : static_cast<size_t>(index[d]));
    const double v = x.at(i);
    double& sum = values[to];
    const bool first = terms[to]++ == 0;
    if (op == "ReduceMax") {
      sum = first ? v : std::max(sum, v);
    } else if (op == "ReduceMin") {
      sum = first ? v : std::min(sum, v);
    } else if (op == "ReduceProd") {
      sum = first ? v : sum * v;
    } else {
      sum += v;
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < x.dims[d]) break;
      index[d] = 0;
    }
  }
  HostTensor out;
  out.dims = dims;
  out.whole = x.whole;
  for (size_t i = 0; i < count; ++i) {
    const double v = op == "ReduceMean" && terms[i] != 0 ? values[i] / static_cast<double>(terms[i]) : values[i];
    if (out.whole) {
      out.ints.push_back(static_cast<int64_t>(std::clamp(v, -9.2e18, 9.2e18)));
    } else {
      out.floats.push_back(v);
    }
  }
  return out;
}

HostTensor cumulate(const Run& run) {
  HostTensor x = run.at(0);
  const size_t axis = axis_of_rank(run.at(1).integer(0), x.dims.size());
  if (run.node.integer("exclusive", 0) != 0 || run.node.integer("reverse", 0) != 0)
    throw std::invalid_argument("CumSum");
  size_t inner = 1;
  for (size_t i = axis + 1; i < x.dims.size(); ++i) inner *= static_cast<size_t>(x.dims[i]);
  for (size_t i = inner; i < x.size(); ++i) {
    if (i / inner % static_cast<size_t>(x.dims[axis]) == 0) continue;
    if (x.whole) {
      x.ints[i] = wrap(static_cast<uint64_t>(x.ints[i]) + static_cast<uint64_t>(x.ints[i - inner]));
    } else {
      x.floats[i] += x.floats[i - inner];
    }
  }
  return x;
}

HostTensor triangle(const Run& run) {
  HostTensor x = run.at(0);
  if (x.dims.size() < 2) throw std::invalid_argument("Trilu of a row");
  const int64_t k = run.has(1) ? std::clamp<int64_t>(run.at(1).integer(0), -(1 << 30), 1 << 30) : 0;
  const bool upper = run.node.integer("upper", 1) != 0;
  const auto columns = static_cast<size_t>(x.dims.back()), rows = static_cast<size_t>(x.dims[x.dims.size() - 2]);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto c = static_cast<int64_t>(i % columns), r = static_cast<int64_t>(i / columns % rows);
    if (upper ? c - r >= k : c - r <= k) continue;
    if (x.whole) {
      x.ints[i] = 0;
    } else {
      x.floats[i] = 0;
    }
  }
  return x;
}

HostTensor range(const Run& run) {
  HostTensor out;
  out.whole = run.at(0).whole && run.at(1).whole && run.at(2).whole;
  const double from = run.at(0).at(0), to = run.at(1).at(0), step = run.at(2).at(0);
  const double count = step == 0 ? -1 : std::ceil((to - from) / step);
  if (!(count <= 1e6)) throw std::length_error("a range is too long");
  for (double i = 0; i < count; ++i) {
    if (out.whole) {
      out.ints.push_back(static_cast<int64_t>(from + i * step));
    } else {
      out.floats.push_back(from + i * step);
    }
  }
  out.dims = {static_cast<int64_t>(out.size())};
  return out;
}

HostTensor where(const Run& run) {
  const std::vector<int64_t> dims = broadcast_dims(run.at(0).dims, broadcast_dims(run.at(1).dims, run.at(2).dims));
  const HostTensor c = broadcast(run.at(0), dims), a = broadcast(run.at(1), dims), b = broadcast(run.at(2), dims);
  HostTensor out;
  out.dims = dims;
  out.whole = a.whole && b.whole;
  for (size_t i = 0; i < c.size(); ++i) push(out, c.at(i) != 0 ? a : b, i);
  return out;
}

HostTensor clip(const Run& run) {
  HostTensor x = run.at(0);
  const double low = run.has(1) ? run.at(1).at(0) : double{run.node.number("min", -INFINITY)};
  const double high = run.has(2) ? run.at(2).at(0) : double{run.node.number("max", INFINITY)};
  const HostTensor clipped = map_each(x, false, [&](double v) { return std::min(std::max(v, low), high); });
  return x.whole ? map_each(clipped, true, [](double v) { return std::clamp(v, -9.2e18, 9.2e18); }) : clipped;
}

HostTensor multiply_matrices(const Run& run) {
  const HostTensor &a = run.at(0), &b = run.at(1);
  if (a.dims.size() < 2 || b.dims.size() < 2) throw std::invalid_argument("matrices");
  const auto n = a.dims[a.dims.size() - 2], k = a.dims.back(), m = b.dims.back();
  if (b.dims[b.dims.size() - 2] != k) throw std::invalid_argument("shapes do not go together");
  std::vector<int64_t> outer = broadcast_dims({a.dims.begin(), a.dims.end() - 2}, {b.dims.begin(), b.dims.end() - 2});
  const size_t batches = count_of(outer);
  std::vector<int64_t> of_a = outer, of_b = outer;
  of_a.insert(of_a.end(), {n, k});
  of_b.insert(of_b.end(), {k, m});
  outer.insert(outer.end(), {n, m});
  const size_t all = count_of(outer);
  if (k != 0 && all > (size_t{1} << 30) / static_cast<size_t>(k)) throw std::length_error("too large to be run");
  const auto numbers = [](const HostTensor& t) {
    return t.whole ? std::vector<double>(t.ints.begin(), t.ints.end()) : t.floats;
  };
  const std::vector<double> x = numbers(broadcast(a, of_a)), y = numbers(broadcast(b, of_b));
  HostTensor out = host_floats(outer, std::vector<double>(all, 0));
  const auto rows = static_cast<size_t>(n), inner = static_cast<size_t>(k), columns = static_cast<size_t>(m);
  for (size_t p = 0; p < batches; ++p) {
    for (size_t r = 0; r < rows; ++r) {
      double* sums = out.floats.data() + (p * rows + r) * columns;
      for (size_t i = 0; i < inner; ++i) {
        const double factor = x[(p * rows + r) * inner + i], *row = y.data() + (p * inner + i) * columns;
        for (size_t c = 0; c < columns; ++c) sums[c] += factor * row[c];
      }
    }
  }
  return out;
}

/// Products of elements of one or two tensors, summed over the letters that the result does not have.
HostTensor einsum(const Run& run) {
  std::string text = run.node.text("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->"), comma = text.find(',');
  const size_t operands = comma == std::string::npos ? 1 : 2;
  if (arrow == std::string::npos || run.in.size() != operands || (operands == 2 && comma > arrow)) {
    throw std::invalid_argument("its equation is not read");
  }
  std::vector<std::string> of = {text.substr(0, std::min(comma, arrow))};
  if (operands == 2) of.push_back(text.substr(comma + 1, arrow - comma - 1));
  std::string letters = text.substr(arrow + 2);
  const size_t kept = letters.size();
  for (const std::string& one : of) {
    for (const char c : one) letters += letters.find(c) == std::string::npos ? std::string(1, c) : std::string();
  }
  std::vector<int64_t> extents(letters.size(), 0);
  std::vector<std::vector<size_t>> steps(operands, std::vector<size_t>(letters.size(), 0));
  for (size_t i = 0; i < operands; ++i) {
    const HostTensor& x = run.at(i);
    if (of[i].size() != x.dims.size()) throw std::invalid_argument("its equation does not fit");
    size_t step = 1;
    for (size_t d = x.dims.size(); d-- > 0;) {
      const size_t letter = letters.find(of[i][d]);
      if (extents[letter] != 0 && extents[letter] != x.dims[d])
        throw std::invalid_argument("shapes do not go together");
      extents[letter] = x.dims[d];
      steps[i][letter] += step;
      step *= static_cast<size_t>(x.dims[d]);
    }
  }
  for (const char c : letters) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) throw std::invalid_argument("its equation is not read");
  }
  const std::vector<int64_t> out_dims(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(kept));
  const size_t all = count_of(extents);
  HostTensor out = host_floats(out_dims, std::vector<double>(count_of(out_dims), 0));
  const size_t summed = out.size() == 0 ? 0 : all / out.size();
  std::vector<int64_t> index(letters.size(), 0);
  size_t from[2] = {0, 0};
  for (size_t i = 0; i < all; ++i) {
    out.floats[i / summed] += run.at(0).at(from[0]) * (operands == 2 ? run.at(1).at(from[1]) : 1);
    for (size_t d = index.size(); d-- > 0;) {
      const bool carries = ++index[d] == extents[d];
      for (size_t k = 0; k < operands; ++k) from[k] += steps[k][d];
      if (!carries) break;
      for (size_t k = 0; k < operands; ++k) from[k] -= steps[k][d] * static_cast<size_t>(extents[d]);
      index[d] = 0;
    }
  }
  return out;
}

HostTensor softmax(const Run& run) {
  HostTensor x = run.at(0);
  const size_t axis = axis_of_rank(run.node.integer("axis", run.opset < 13 ? 1 : -1), x.dims.size());
  if (x.whole || (run.opset < 13 && axis + 1 != x.dims.size()))
    throw std::invalid_argument("a softmax of several axes");
  size_t inner = 1;
  for (size_t i = axis + 1; i < x.dims.size(); ++i) inner *= static_cast<size_t>(x.dims[i]);
  const auto count = static_cast<size_t>(x.dims[axis]);
  for (size_t begin = 0; begin < x.size() && count != 0;
       begin += (begin + 1) % inner == 0 ? inner * (count - 1) + 1 : 1) {
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < count; ++k) most = std::max(most, x.floats[begin + k * inner]);
    for (size_t k = 0; k < count; ++k)
      sum += x.floats[begin + k * inner] = std::exp(x.floats[begin + k * inner] - most);
    for (size_t k = 0; k < count; ++k) x.floats[begin + k * inner] /= sum;
  }
  return x;
}

HostTensor multiply_integers(const Run& run) {
  const auto less = [&](size_t i, size_t zero) {
    const HostTensor& x = run.at(i);
    const double by = run.has(zero) && run.at(zero).size() == 1 ? run.at(zero).at(0) : 0;
    if (run.has(zero) && run.at(zero).size() > 1) throw std::invalid_argument("zeros of rows or columns");
    return map_each(x, false, [by](double v) { return v - by; });
  };
  const HostTensor a = less(0, 2), b = less(1, 3);
  const Inputs inputs = {&a, &b};
  return map_each(multiply_matrices({run.node, inputs, run.opset}), true, [](double v) { return v; });
}

/// Quantizes to u8; returns the integers, their scale and their zero point.
std::vector<HostTensor> quantise(const Run& run) {
  const HostTensor& x = run.at(0);
  double low = 0, high = 0;
  for (size_t i = 0; i < x.size(); ++i) low = std::min(low, x.at(i)), high = std::max(high, x.at(i));
  const float scale = high == low ? 1.0F : static_cast<float>((high - low) / 255);
  const double zero = std::clamp(std::nearbyint(-low / double{scale}), 0.0, 255.0);
  HostTensor of_zero = host_integers({static_cast<int64_t>(zero)}, true);
  return {map_each(x, true, [&](double v) { return std::clamp(std::nearbyint(v / double{scale}) + zero, 0.0, 255.0); }),
          host_floats({}, {double{scale}}), std::move(of_zero)};
}

HostTensor norm(const Run& run) {
  HostTensor x = run.at(0);
  const size_t rank = x.dims.size(), axis = axis_of_rank(run.node.integer("axis", -1), rank);
  if (axis + 1 != rank || x.whole) throw std::invalid_argument("a norm of something else than the last axis");
  const auto columns = static_cast<size_t>(x.dims.back());
  const double epsilon{run.node.number("epsilon", 1e-5F)};
  for (size_t at = 0; at + columns <= x.size() && columns != 0; at += columns) {
    double* row = x.floats.data() + at;
    double mean = 0, square = 0;
    for (size_t i = 0; i < columns; ++i) mean += row[i];
    mean /= static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i) square += (row[i] - mean) * (row[i] - mean);
    const double factor = 1 / std::sqrt(square / static_cast<double>(columns) + epsilon);
    for (size_t i = 0; i < columns; ++i) {
      row[i] = (row[i] - mean) * factor * run.at(1).at(i) + (run.has(2) ? run.at(2).at(i) : 0);
    }
  }
  return x;
}

const std::map<std::string, Operator>& operators() {
  static const std::map<std::string, Operator> kOperators = {
      {"Cast", cast},
      {"ReduceSum", reduce},
      {"ReduceMax", reduce},
      {"ReduceMin", reduce},
      {"ReduceMean", reduce},
      {"ReduceProd", reduce},
      {"CumSum", cumulate},
      {"Trilu", triangle},
      {"Range", range},
      {"Where", where},
      {"Clip", clip},
      {"MatMul", multiply_matrices},
      {"MatMulInteger", multiply_integers},
      {"LayerNormalization", norm},
      {"Einsum", einsum},
      {"Softmax", softmax},
      {"Identity", [](const Run& run) { return run.at(0); }},
      {"Dropout", [](const Run& run) { return run.at(0); }},
      {"CastLike", [](const Run& run) { return map_each(run.at(0), run.at(1).whole, [](double v) { return v; }); }},
      {"Size", [](const Run& run) { return host_integers({static_cast<int64_t>(run.at(0).size())}, true); }},
  };
  return kOperators;
}

double error_function(double x) { return std::erf(x); }

const std::map<std::string, double (*)(double)>& functions() {
  static const std::map<std::string, double (*)(double)> kFunctions = {
      {"Neg", [](double v) { return -v; }},
      {"Abs", [](double v) { return std::fabs(v); }},
      {"Sqrt", [](double v) { return std::sqrt(v); }},
      {"Exp", [](double v) { return std::exp(v); }},
      {"Log", [](double v) { return std::log(v); }},
      {"Floor", [](double v) { return std::floor(v); }},
      {"Ceil", [](double v) { return std::ceil(v); }},
      {"Round", [](double v) { return std::nearbyint(v); }},
      {"Reciprocal", [](double v) { return 1 / v; }},
      {"Sin", [](double v) { return std::sin(v); }},
      {"Cos", [](double v) { return std::cos(v); }},
      {"Tanh", [](double v) { return std::tanh(v); }},
      {"Erf", error_function},
      {"Sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"Relu", [](double v) { return v > 0 ? v : 0; }},
      {"Sign", [](double v) { return static_cast<double>((v > 0) - (v < 0)); }},
  };
  return kFunctions;
}

}  // namespace

std::vector<HostTensor> run_node(const Node& node, const std::vector<const HostTensor*>& inputs, int64_t opset) {
  if (!node.domain.empty()) return {};
  const Run run{node, inputs, opset};
  const auto function = functions().find(node.op);
  if (function != functions().end()) return {map_each(run.at(0), run.at(0).whole, function->second)};
  if (node.op == "Not") return {map_each(run.at(0), true, [](double v) { return v == 0 ? 1 : 0; })};
  if (node.op == "IsNaN") return {map_each(run.at(0), true, [](double v) { return std::isnan(v) ? 1 : 0; })};
  if (node.op == "IsInf") return {map_each(run.at(0), true, [](double v) { return std::isinf(v) ? 1 : 0; })};
  if (kArithmetic.count(node.op) != 0 || kTruths.count(node.op) != 0) {
    HostTensor out = run.at(0);
    for (size_t i = 1; i < inputs.size(); ++i) out = pair(run, out, run.at(i));
    return {std::move(out)};
  }
  if (node.op == "Split") return split(run);
  if (node.op == "DynamicQuantizeLinear") return quantise(run);
  for (const auto* table : {&operators(), &moves()}) {
    const auto found = table->find(node.op);
    if (found != table->end()) return {found->second(run)};
  }
  return {};
}

}  // namespace bantam::convert::onnx
