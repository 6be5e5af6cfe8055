#include "onnx/row_functions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

namespace bantam::convert::onnx {
namespace {

constexpr size_t kMostTerms = 64;  // in one function

double pair(const std::string& op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Pow") return std::pow(a, b);
  if (op == "Min") return std::min(a, b);
  return std::max(a, b);
}

double single(const std::string& op, double v) {
  if (op == "Neg") return -v;
  if (op == "Abs") return std::fabs(v);
  if (op == "Sqrt") return std::sqrt(v);
  if (op == "Exp") return std::exp(v);
  if (op == "Log") return std::log(v);
  if (op == "Erf") return std::erf(v);
  if (op == "Erfc") return std::erfc(v);  // tf2onnx writes it, although ONNX does not define it
  if (op == "Tanh") return std::tanh(v);
  if (op == "Sigmoid") return 1 / (1 + std::exp(-v));
  if (op == "Relu") return v > 0 ? v : 0;
  if (op == "Reciprocal") return 1 / v;
  if (op == "Softplus") return std::log1p(std::exp(v));
  return v;
}

bool is_pair(const std::string& op) {
  return op == "Add" || op == "Sub" || op == "Mul" || op == "Div" || op == "Pow" || op == "Min" || op == "Max";
}
bool is_reduction(const std::string& op) { return op == "ReduceMean" || op == "ReduceSum" || op == "ReduceL2"; }

/// Reproducible pseudorandom numbers between -1 and 1.
std::vector<double> some_row(size_t columns, uint64_t seed) {
  std::vector<double> row;
  uint64_t state = seed * 2654435761U + 12345;
  for (size_t i = 0; i < columns; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    row.push_back(static_cast<double>(state >> 40) / static_cast<double>(1U << 23) - 1);
  }
  return row;
}

bool near(double a, double b, double by) { return std::fabs(a - b) <= by * (1 + std::fabs(b)); }

bool near(const std::vector<double>& a, const std::vector<double>& b, double by) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!near(a[i], b[i], by)) return false;
  }
  return true;
}

double formula(fb::ActivationKind kind, double x) {
  switch (kind) {
    case fb::ActivationKind::relu:
      return x > 0 ? x : 0;
    case fb::ActivationKind::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case fb::ActivationKind::gelu_tanh:
      return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case fb::ActivationKind::tanh:
      return std::tanh(x);
    case fb::ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case fb::ActivationKind::silu:
      return x / (1 + std::exp(-x));
    case fb::ActivationKind::quick_gelu:
      return x / (1 + std::exp(-1.702 * x));
    case fb::ActivationKind::relu_squared:
      return x > 0 ? x * x : 0;
    default:
      return x;
  }
}

}  // namespace

int32_t RowFunctions::rows(int32_t block, size_t columns) {
  Term term;
  term.op = "rows";
  term.base = block;
  term.columns = columns;
  terms_.push_back(std::move(term));
  return static_cast<int32_t>(terms_.size() - 1);
}

int32_t RowFunctions::scalar(double value) {
  Term term;
  term.op = "scalar";
  term.value = value;
  terms_.push_back(std::move(term));
  return static_cast<int32_t>(terms_.size() - 1);
}

int32_t RowFunctions::vector(std::vector<double> values, std::string name, size_t group) {
  Term term;
  term.op = "vector";
  term.columns = values.size();
  term.values = std::move(values);
  term.name = std::move(name);
  term.group = group;
  terms_.push_back(std::move(term));
  return static_cast<int32_t>(terms_.size() - 1);
}

int32_t RowFunctions::apply(const std::string& op, int32_t a, int32_t b, size_t group) {
  Term term;
  term.group = group;
  term.op = op;
  term.a = a;
  term.b = b;
  term.columns = terms_[at(a)].columns;
  term.base = terms_[at(a)].base;
  term.reduced = is_reduction(op) || terms_[at(a)].reduced;
  if (b >= 0) {
    const Term& other = terms_[at(b)];
    term.columns = std::max(term.columns, other.columns);
    if (term.base == -1) {
      term.base = other.base;
      term.reduced = other.reduced;
    } else if (other.base != -1) {
      term.reduced = term.reduced && other.reduced;
    } else if (other.op == "vector") {
      term.reduced = false;
    }
  }
  terms_.push_back(std::move(term));
  return static_cast<int32_t>(terms_.size() - 1);
}

int32_t RowFunctions::without_factor(int32_t term, double* factor) const {
  *factor = 1;
  while (true) {
    const Term& t = terms_[at(term)];
    const auto is_scalar = [&](int32_t other) { return other >= 0 && terms_[at(other)].op == "scalar"; };
    if (t.op == "Mul" && is_scalar(t.b)) {
      *factor *= terms_[at(t.b)].value;
      term = t.a;
    } else if (t.op == "Mul" && is_scalar(t.a)) {
      *factor *= terms_[at(t.a)].value;
      term = t.b;
    } else if (t.op == "Div" && is_scalar(t.b)) {
      *factor /= terms_[at(t.b)].value;
      term = t.a;
    } else {
      return term;
    }
  }
}

/// The terms, in order, that `to` depends on, down to `from`, whose own operands are excluded.
std::vector<int32_t> RowFunctions::between(int32_t from, int32_t to) const {
  std::set<int32_t> seen;
  std::vector<int32_t> open = {to};
  while (!open.empty()) {
    const int32_t term = open.back();
    open.pop_back();
    if (term < 0 || !seen.insert(term).second || term == from) continue;
    open.push_back(terms_[at(term)].a);
    open.push_back(terms_[at(term)].b);
  }
  return {seen.begin(), seen.end()};
}

RowFunctions::Row RowFunctions::run(int32_t from, int32_t to, const Row& x) const {
  std::map<int32_t, Row> made;
  const size_t columns = x.size();
  for (const int32_t id : between(from, to)) {
    const Term& term = terms_[at(id)];
    Row row;
    if (id == from) {
      row = x;
    } else if (term.op == "scalar") {
      row.assign(columns, term.value);
    } else if (term.op == "vector") {
      row = term.values;
      row.resize(columns, 0);
    } else if (term.op == "rows") {
      row.assign(columns, NAN);  // depends on more than `from`
    } else if (is_reduction(term.op)) {
      double sum = 0;
      for (const double v : made[term.a]) sum += term.op == "ReduceL2" ? v * v : v;
      if (term.op == "ReduceL2") sum = std::sqrt(sum);
      row.assign(columns, term.op == "ReduceMean" ? sum / static_cast<double>(columns) : sum);
    } else if (is_pair(term.op)) {
      const Row &a = made[term.a], &b = made[term.b];
      for (size_t i = 0; i < columns; ++i) row.push_back(pair(term.op, a[i], b[i]));
    } else {
      for (const double v : made[term.a]) row.push_back(single(term.op, v));
    }
    made[id] = std::move(row);
  }
  return made[to];
}

/// The number of columns over which the terms after `from` operate; nullopt if they mix group sizes, or groups and
/// whole rows.
std::optional<size_t> RowFunctions::columns_between(int32_t from, int32_t to, const std::vector<int32_t>& terms) const {
  std::set<size_t> groups;
  for (const int32_t id : terms) {
    const Term& term = terms_[at(id)];
    if (id != from && (term.op == "vector" || is_reduction(term.op))) groups.insert(term.group);
  }
  if (groups.size() > 1) return std::nullopt;
  return groups.empty() || *groups.begin() == 0 ? terms_[at(to)].columns : *groups.begin();
}

/// Returns true if every path from `to` down to `from` passes through `by`.
bool RowFunctions::passes(int32_t from, int32_t to, int32_t by) const {
  std::set<int32_t> seen;
  std::vector<int32_t> open = {to};
  while (!open.empty()) {
    const int32_t term = open.back();
    open.pop_back();
    if (term < 0 || term == by || !seen.insert(term).second) continue;
    if (term == from) return false;
    open.push_back(terms_[at(term)].a);
    open.push_back(terms_[at(term)].b);
  }
  return true;
}

std::optional<Stage> RowFunctions::affine(int32_t from, int32_t to, const std::vector<int32_t>& terms,
                                          size_t columns) const {
  const Row b = run(from, to, Row(columns, 0)), sum = run(from, to, Row(columns, 1));
  const Row x = some_row(columns, 7), y = run(from, to, x);
  Row a, expected;
  for (size_t i = 0; i < columns; ++i) {
    a.push_back(sum[i] - b[i]);
    expected.push_back(a[i] * x[i] + b[i]);
  }
  Row far(columns, -5), at_far;
  for (size_t i = 0; i < columns; ++i) at_far.push_back(a[i] * -5 + b[i]);
  if (!near(y, expected, 1e-9) || !near(run(from, to, far), at_far, 1e-9)) return std::nullopt;
  Stage stage;
  const auto all = [](const Row& row, double value) {
    return std::all_of(row.begin(), row.end(), [&](double v) { return near(v, value, 1e-12); });
  };
  const auto store = [&](const Row& row, std::vector<float>* out, std::string* name) {
    for (const double v : row) out->push_back(static_cast<float>(v));
    for (const int32_t id : terms) {
      if (terms_[at(id)].op == "vector" && near(terms_[at(id)].values, row, 1e-9)) *name = terms_[at(id)].name;
    }
  };
  if (!all(a, 1)) store(a, &stage.gamma, &stage.gamma_name);
  if (!all(b, 0)) store(b, &stage.beta, &stage.beta_name);
  return stage;
}

std::optional<Stage> RowFunctions::activation(int32_t from, int32_t to) const {
  Row x;
  for (int i = -48; i <= 48; ++i) x.push_back(i * 0.125 + 0.01);
  const Row y = run(from, to, x);
  for (const fb::ActivationKind kind : fb::EnumValuesActivationKind()) {
    if (kind == fb::ActivationKind::none || kind == fb::ActivationKind::exp) continue;
    Row expected;
    for (const double v : x) expected.push_back(formula(kind, v));
    if (!near(y, expected, 2e-6)) continue;
    Stage stage;
    stage.kind = Stage::Kind::kActivation;
    stage.activation = kind;
    return stage;
  }
  return std::nullopt;
}

std::optional<Stage> RowFunctions::norm(int32_t from, int32_t to, const std::vector<int32_t>& terms,
                                        size_t columns) const {
  Row wide = some_row(columns, 3), flat = some_row(columns, 5);
  for (double& v : wide) v = v * 3 + 0.5;
  for (double& v : flat) v *= 1e-3;
  const Row of_wide = run(from, to, wide), of_flat = run(from, to, flat);
  std::vector<const Term*> vectors = {nullptr};
  std::vector<double> epsilons;
  for (const int32_t id : terms) {
    const Term& term = terms_[at(id)];
    if (term.op == "vector" && term.values.size() == columns) vectors.push_back(&term);
    if (term.op == "scalar" && term.value > 0 && term.value < 0.1) epsilons.push_back(term.value);
  }
  epsilons.push_back(0);  // in case none of the constants is an epsilon
  const auto normed = [&](const Row& x, bool centred, double epsilon) {
    double mean = 0, square = 0;
    for (const double v : x) mean += centred ? v : 0;
    mean /= static_cast<double>(columns);
    for (const double v : x) square += (v - mean) * (v - mean);
    Row out;
    for (const double v : x) out.push_back((v - mean) / std::sqrt(square / static_cast<double>(columns) + epsilon));
    return out;
  };
  const auto fits = [&](const Row& n, const Row& y, const Term* gamma, const Term* beta) {
    for (size_t i = 0; i < columns; ++i) {
      const double expected =
          n[i] * (gamma == nullptr ? 1 : gamma->values[i]) + (beta == nullptr ? 0 : beta->values[i]);
      if (!near(y[i], expected, 1e-5)) return false;
    }
    return true;
  };
  Stage stage;
  const auto unit = [&](const Row& x, const Row& y) {
    double square = 0;
    for (const double v : x) square += v * v;
    Row expected;
    for (const double v : x) expected.push_back(v / std::sqrt(square));
    return near(y, expected, 1e-6);
  };
  if (unit(wide, of_wide) && unit(flat, of_flat)) {
    stage.kind = Stage::Kind::kUnit;
    return stage;
  }
  stage.kind = Stage::Kind::kNorm;
  for (const bool centred : {true, false}) {
    for (const double epsilon : epsilons) {
      const Row a = normed(wide, centred, epsilon), b = normed(flat, centred, epsilon);
      for (const Term* gamma : vectors) {
        for (const Term* beta : vectors) {
          if (!fits(a, of_wide, gamma, beta) || !fits(b, of_flat, gamma, beta)) continue;
          stage.norm = centred ? fb::NormKind::layer : fb::NormKind::rms;
          stage.epsilon = epsilon;
          if (gamma != nullptr) {
            stage.gamma.assign(gamma->values.begin(), gamma->values.end());
            stage.gamma_name = gamma->name;
          }
          if (beta != nullptr) {
            stage.beta.assign(beta->values.begin(), beta->values.end());
            stage.beta_name = beta->name;
          }
          return stage;
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<Stage> RowFunctions::direct(int32_t from, int32_t to) const {
  const std::vector<int32_t> terms = between(from, to);
  const auto any = [&](const std::function<bool(const Term&)>& test) {
    return std::any_of(terms.begin(), terms.end(), [&](int32_t id) { return id != from && test(terms_[at(id)]); });
  };
  const std::optional<size_t> columns = columns_between(from, to, terms);
  if (!columns) return std::nullopt;
  const auto of_groups = [&](std::optional<Stage> found) {
    if (found && *columns != terms_[at(to)].columns) found->group = static_cast<uint32_t>(*columns);
    return found;
  };
  if (any([](const Term& term) { return is_reduction(term.op); })) return of_groups(norm(from, to, terms, *columns));
  if (const std::optional<Stage> found = affine(from, to, terms, *columns)) return of_groups(found);
  if (any([](const Term& term) { return term.op == "vector"; })) return std::nullopt;
  return activation(from, to);
}

std::optional<std::vector<Stage>> RowFunctions::stages(int32_t from, int32_t to, std::set<int32_t>* dead) const {
  if (from == to) return std::vector<Stage>{};
  if (const std::optional<Stage> one = direct(from, to)) return std::vector<Stage>{*one};
  if (!dead->insert(from).second) return std::nullopt;  // a previous search from here failed
  for (const int32_t by : between(from, to)) {
    if (by == from || by == to || is_constant(by) || reduced(by) || !passes(from, to, by)) continue;
    const std::optional<Stage> first = direct(from, by);
    if (!first) continue;
    std::optional<std::vector<Stage>> rest = stages(by, to, dead);
    if (!rest) continue;
    rest->insert(rest->begin(), *first);
    return rest;
  }
  return std::nullopt;
}

std::optional<std::vector<Stage>> RowFunctions::recognise(int32_t term) const {
  int32_t from = -1;
  const std::vector<int32_t> terms = between(-1, term);
  if (terms.size() > kMostTerms || reduced(term)) return std::nullopt;
  for (const int32_t id : terms) {
    if (is_rows(id)) from = id;
  }
  std::set<int32_t> dead;
  return stages(from, term, &dead);
}

}  // namespace bantam::convert::onnx
