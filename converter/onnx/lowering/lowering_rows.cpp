// Nodes that compute rows from rows: sums, activations, norms, pooling.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {
namespace {

/// Replaces a constant of an activation that was rounded to f16 or bf16 by its exact value; returns other values
/// unchanged. Files with such floats compute with rounded constants, and the intended function differs from that by
/// less than their own rounding of values.
double unrounded(double value) {
  struct Rounded {
    double f16, bf16, meant;
  };
  static constexpr Rounded kRounded[] = {{1.4140625, 1.4140625, 1.4142135623730951},    // sqrt(2)
                                         {0.70703125, 0.70703125, 0.7071067811865476},  // sqrt(1 / 2)
                                         {0.7978515625, 0.796875, 0.7978845608028654},  // sqrt(2 / pi)
                                         {0.044708251953125, 0.044677734375, 0.044715},
                                         {1.7021484375, 1.703125, 1.702}};
  for (const Rounded& one : kRounded) {
    if (value == one.f16 || value == one.bf16) return one.meant;
  }
  return value;
}

const std::set<std::string> kPairs = {"Add", "Sub", "Mul", "Div", "Pow", "Min", "Max"};
const std::set<std::string> kSingles = {"Neg",  "Abs",  "Sqrt",    "Exp",  "Log",        "Erf",
                                        "Erfc", "Tanh", "Sigmoid", "Relu", "Reciprocal", "Softplus"};

}  // namespace

void Lowering::set_term(const Node& node, const Value& like, int32_t term, Axes axes) {
  Value out;
  out.kind = Value::Kind::kRows;
  out.term = term;
  out.axes = std::move(axes);
  out.masked = like.masked;
  set(node, 0, std::move(out));
}

/// The broadcast axes of both; one of them may lack the batch or the columns of the other.
Axes Lowering::united(const Axes& a, const Axes& b) const {
  const Axes &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  Axes out = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    Axis& to = out[longer.size() - shorter.size() + i];
    if (to.empty()) to = shorter[i];
    if (!shorter[i].empty() && !(to == shorter[i])) refuse("its inputs lie over tokens and columns in different ways");
  }
  return out;
}

/// Expands a constant to all `columns` if the columns of the rows beside it lie along several axes, such as [heads,
/// width]; nullopt if it has other axes.
std::optional<std::vector<double>> Lowering::of_each_column(const Axes& axes, const HostTensor& values,
                                                            int64_t columns) const {
  if (values.dims.size() > axes.size() || columns > static_cast<int64_t>(kMostHostElements)) return std::nullopt;
  std::vector<double> out(static_cast<size_t>(columns), 0);
  std::vector<int64_t> extents, steps;
  std::vector<size_t> strides;
  size_t stride = 1;
  int64_t count = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const size_t behind = axes.size() - i;
    const int64_t given = behind <= values.dims.size() ? values.dims[values.dims.size() - behind] : 1;
    const bool of_columns = axes[i].size() == 1 && axes[i][0].kind == Atom::Kind::kColumns && axes[i][0].step > 0;
    if (given != 1 && (!of_columns || given != axes[i][0].extent)) return std::nullopt;
    if (of_columns) {
      extents.push_back(axes[i][0].extent);
      steps.push_back(axes[i][0].step);
      strides.push_back(given == 1 ? 0 : stride);
      count *= axes[i][0].extent;
    }
    stride *= static_cast<size_t>(given);
  }
  if (count != columns) return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, column = 0;
    size_t from = 0;
    for (size_t k = 0; k < extents.size(); ++k) {
      const int64_t place = rest % extents[k];
      rest /= extents[k];
      column += place * steps[k];
      from += static_cast<size_t>(place) * strides[k];
    }
    if (column >= columns) return std::nullopt;
    out[static_cast<size_t>(column)] = values.at(from);
  }
  return out;
}

/// Converts a constant to a term for these rows: a scalar, or one number per column.
int32_t Lowering::term_of(const Value& constant, const Value& rows) {
  if (const std::optional<double> number = number_of(constant)) return functions_.scalar(unrounded(*number));
  const std::shared_ptr<const HostTensor> values = constant_of(constant);
  if (values == nullptr) refuse("an input depends on masks or shapes in a way that is not known");
  const auto columns = static_cast<int64_t>(values->size());
  bool along = false;  // after the columns, the constant has extents of 1
  for (size_t i = 0; i < values->dims.size() && i < rows.axes.size(); ++i) {
    const bool here = rows.axes[rows.axes.size() - 1 - i] == Axis{columns_atom(columns)};
    along = along || (here && values->dims[values->dims.size() - 1 - i] == columns);
  }
  const auto whole = static_cast<int64_t>(at(functions_.base(rows.term)).columns);
  if (!along) {
    std::optional<std::vector<double>> row = of_each_column(rows.axes, *values, whole);
    if (!row) refuse("a constant is neither a number nor a vector of columns");
    return functions_.vector(*std::move(row), constant.constant.name);
  }
  std::vector<double> row;
  for (size_t i = 0; i < values->size(); ++i) row.push_back(values->at(i));
  const auto all = static_cast<int64_t>(at(functions_.base(rows.term)).columns);
  return functions_.vector(std::move(row), constant.constant.name, columns == all ? 0 : values->size());
}

bool Lowering::read_rows(const Node& node) {
  if (!node.domain.empty()) return false;
  const std::string& op = node.op;
  if (read_masked(node)) return true;
  if (kPairs.count(op) != 0) return read_pair(node), true;
  if (kind(node, 0) != Value::Kind::kRows) return false;
  const Value& x = in(node, 0);
  if (kSingles.count(op) != 0) return set_term(node, x, functions_.apply(op, x.term), x.axes), true;
  if (op == "ReduceMean" || op == "ReduceSum" || op == "ReduceL2" || op == "ReduceMax") {
    return read_reduction(node), true;
  }
  if (op == "LpNormalization") {
    if (axis_of(x, node.integer("axis", -1)) + 1 != x.axes.size() || node.integer("p", 2) != 2)
      refuse("is not an L2 norm of rows");
    const int32_t length = functions_.apply("ReduceL2", x.term);
    return set_term(node, x, functions_.apply("Div", x.term, length), x.axes), true;
  }
  if (op == "Clip") {
    const std::optional<double> low = there(node, 1) ? number_of(in(node, 1)) : std::nullopt;
    if (node.has("max") || there(node, 2)) refuse("clips from above");
    const double least = low ? *low : double{node.number("min", 0)};
    return set_term(node, x, functions_.apply("Max", x.term, functions_.scalar(least)), x.axes), true;
  }
  if (op == "BatchNormalization") return read_batch_norm(node), true;
  if (op == "Gelu") {
    const bool tanh = node.text("approximate", "none") == "tanh";
    const int32_t y = activated(node, block_of(x), tanh ? fb::ActivationKind::gelu_tanh : fb::ActivationKind::gelu);
    return set(node, 0, rows_of(y, x.axes)), true;
  }
  if (op == "LayerNormalization" || op == "RMSNormalization" || op == "SimplifiedLayerNormalization") {
    return read_norm(node), true;
  }
  return false;
}

int32_t Lowering::sum_of(const Node& node, int32_t a, int32_t b) {
  Block block;
  block.kind = Block::Kind::kAdd;
  block.name = node.name;
  block.inputs = {a, b};
  block.columns = at(a).columns;
  block.of_tokens = at(a).of_tokens;
  if (at(b).columns != block.columns || at(b).of_tokens != block.of_tokens) refuse("its inputs have different shapes");
  return add(std::move(block));
}

void Lowering::read_pair(const Node& node) {
  const Value &a = in(node, 0), &b = in(node, 1);
  const bool rows_a = a.kind == Value::Kind::kRows, rows_b = b.kind == Value::Kind::kRows;
  const std::string& op = node.op;
  if (!rows_a && !rows_b) refuse("its inputs are of kinds that do not go together");
  if (!rows_a || !rows_b) {
    const Value& rows = rows_a ? a : b;
    if (op == "Add") {
      if (const std::optional<Value> places = rows_of_places(node, rows_a ? 1 : 0, rows)) {
        const Axes axes = rows.axes;
        return set(node, 0, rows_of(sum_of(node, collapse(rows.term), collapse(places->term)), axes));
      }
    }
    // One number per row combined with a constant per column gives columns again.
    Value wide = rows;
    const Value& other = rows_a ? b : a;
    const auto columns = static_cast<int64_t>(at(functions_.base(rows.term)).columns);
    if (functions_.reduced(rows.term) && !rows.axes.empty() && rows.axes.back().empty() && !number_of(other)) {
      wide.axes.back() = {columns_atom(columns)};
    }
    const int32_t constant = term_of(other, wide);
    const int32_t term = rows_a ? functions_.apply(op, rows.term, constant) : functions_.apply(op, constant, rows.term);
    return set_term(node, rows, term, wide.axes);
  }
  const Axes axes = united(a.axes, b.axes);
  if (functions_.base(a.term) == functions_.base(b.term)) {
    return set_term(node, functions_.reduced(a.term) ? b : a, functions_.apply(op, a.term, b.term), axes);
  }
  if (op != "Add" && op != "Mul" && op != "Sub") refuse("of two different tensors sums and products alone are read");
  int32_t right = b.term;
  if (op == "Sub") right = functions_.apply("Mul", right, functions_.scalar(-1));
  Block block;
  block.kind = op == "Mul" ? Block::Kind::kProduct : Block::Kind::kAdd;
  block.name = node.name;
  block.inputs = {collapse(a.term), collapse(right)};
  const Block &left = at(block.inputs[0]), &other = at(block.inputs[1]);
  if (left.columns != other.columns || left.of_tokens != other.of_tokens) refuse("its inputs have different shapes");
  block.columns = left.columns;
  block.of_tokens = left.of_tokens;
  set(node, 0, rows_of(add(std::move(block)), axes));
}

void Lowering::read_reduction(const Node& node) {
  const Value& x = in(node, 0);
  const std::vector<int64_t> axes = list(node, 1, "axes");
  if (axes.size() != 1) refuse("reduces several axes");
  const size_t axis = axis_of(x, axes[0]);
  const bool keep = node.integer("keepdims", 1) != 0;
  const auto columns = static_cast<int64_t>(at(functions_.base(x.term)).columns);
  if (x.axes[axis] == Axis{columns_atom(columns)}) {
    Axes left = x.axes;
    left[axis].clear();
    if (!keep) refuse("drops the columns that it reduces");
    return set_term(node, x, functions_.apply(node.op, x.term), left);
  }
  if (axis == 3 && is_of_heads(x.axes) && keep) {
    Axes left = x.axes;
    left[axis].clear();
    const auto width = static_cast<size_t>(x.axes[axis][0].extent);
    return set_term(node, x, functions_.apply(node.op, x.term, -1, width), left);
  }
  if (!is_tokens(x.axes[axis])) refuse("reduces what is neither tokens nor columns");
  const int64_t skip = x.axes[axis][0].less;
  // Without a mask, texts are not padded.
  const bool pools = (node.op == "ReduceMean" || node.op == "ReduceMax") && !has_input(InputRole::kMask);
  if (!pools && (node.op != "ReduceSum" || !x.masked || skip != 0)) {
    refuse("is over tokens without their mask: those that fill up would count");
  }
  Block block;
  block.kind = Block::Kind::kPool;
  block.name = node.name;
  block.inputs = {block_of(x)};
  block.columns = static_cast<uint32_t>(columns);
  block.of_tokens = false;
  block.skip = static_cast<uint32_t>(skip);
  block.pool = !pools ? fb::PoolKind::sum : node.op == "ReduceMax" ? fb::PoolKind::max : fb::PoolKind::mean;
  Axes left = x.axes;
  left[axis].clear();
  if (!keep) left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  Value out = rows_of(add(std::move(block)), std::move(left));
  if (!pools) out.kind = Value::Kind::kSum;
  set(node, 0, std::move(out));
}

/// Converts evaluated values to one number per token, [texts, tokens], for rows of these axes; nullopt if they do not
/// have this form.
std::optional<std::vector<HostTensor>> Lowering::of_each_token(const Axes& axes,
                                                               const std::vector<HostTensor>& given) const {
  std::vector<HostTensor> out;
  for (size_t p = 0; p < probes_.size(); ++p) {
    const Extents now = extents(p);
    const std::vector<int64_t> whole = dims(axes, now);
    if (broadcast_dims(given[p].dims, whole) != whole) return std::nullopt;
    const HostTensor wide = broadcast(given[p], whole);
    size_t after_texts = 0, after_tokens = 0, inner = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      if (axes[i] == Axis{kBatchAtom}) after_texts = inner;
      if (axes[i] == Axis{kTokensAtom}) after_tokens = inner;
      inner *= static_cast<size_t>(whole[i]);
    }
    if (after_texts == 0 || after_tokens == 0) return std::nullopt;
    const auto texts = static_cast<size_t>(now.batch), tokens = static_cast<size_t>(now.tokens);
    HostTensor one = host_floats({now.batch, now.tokens}, std::vector<double>(texts * tokens));
    std::vector<bool> known(texts * tokens);
    for (size_t i = 0; i < wide.size(); ++i) {
      const size_t at_token = i / after_texts % texts * tokens + i / after_tokens % tokens;
      if (known[at_token] && one.floats[at_token] != wide.at(i)) return std::nullopt;
      known[at_token] = true;
      one.floats[at_token] = wide.at(i);
    }
    out.push_back(std::move(one));
  }
  return out;
}

/// Reads rows that are multiplied by the mask, and sums and maxima of masked rows.
bool Lowering::read_masked(const Node& node) {
  const std::string& op = node.op;
  if (op == "Where") {
    // Masked rows get the smallest number, before a maximum.
    const bool rows_last = kind(node, 2) == Value::Kind::kRows;
    const Value &rows = in(node, rows_last ? 2 : 1), &other = in(node, rows_last ? 1 : 2);
    const std::optional<std::vector<HostTensor>> condition = host(in(node, 0));
    const std::optional<double> filler = number_of(other);
    if (rows.kind != Value::Kind::kRows || !condition || !filler) return false;
    std::optional<std::vector<HostTensor>> seen = of_each_token(rows.axes, *condition);
    if (!seen) return false;
    for (HostTensor& one : *seen) {
      for (double& value : one.floats) value = (value != 0) != rows_last ? 1 : 0;
    }
    if (!is_mask(probes_, *seen)) return false;
    Value out = rows;
    if (*filler == 0) {
      out.masked = true;
    } else {
      if (*filler > -1000) return false;
      out.kind = Value::Kind::kMaximum;
    }
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Add" && (kind(node, 0) == Value::Kind::kHost || kind(node, 1) == Value::Kind::kHost)) {
    // The added value is 0, or a very negative number where the mask is 0.
    const size_t i = kind(node, 0) == Value::Kind::kHost ? 1 : 0;
    const Value& rows = in(node, i);
    if (rows.kind != Value::Kind::kRows || rows.axes.size() < 2) return false;
    const std::optional<std::vector<HostTensor>> seen = of_each_token(rows.axes, in(node, 1 - i).host);
    if (!seen) return false;
    std::vector<HostTensor> truths;
    for (const HostTensor& added : *seen) {
      HostTensor one = host_integers({});
      for (size_t k = 0; k < added.size(); ++k) {
        if (added.at(k) != 0 && added.at(k) > kHidden) return false;
        one.ints.push_back(added.at(k) == 0 ? 1 : 0);
      }
      one.dims = added.dims;
      truths.push_back(std::move(one));
    }
    if (!is_mask(probes_, truths)) return false;
    Value out = rows;
    out.kind = Value::Kind::kMaximum;
    return set(node, 0, std::move(out)), true;
  }
  if (op == "ReduceMax" && kind(node, 0) == Value::Kind::kMaximum) {
    const Value& x = in(node, 0);
    const std::vector<int64_t> axes = list(node, 1, "axes");
    if (axes.size() != 1 || !(x.axes[axis_of(x, axes[0])] == Axis{kTokensAtom})) refuse("is not a maximum over tokens");
    Block block;
    block.kind = Block::Kind::kPool;
    block.name = node.name;
    block.inputs = {collapse(x.term)};
    block.columns = at(block.inputs[0]).columns;
    block.of_tokens = false;
    block.pool = fb::PoolKind::max;
    Axes left = x.axes;
    left[axis_of(x, axes[0])].clear();
    if (node.integer("keepdims", 1) == 0) left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis_of(x, axes[0])));
    return set(node, 0, rows_of(add(std::move(block)), std::move(left))), true;
  }
  if (op == "Div" && kind(node, 0) == Value::Kind::kSum) {
    const std::optional<std::vector<HostTensor>> counts = host(in(node, 1));
    if (!counts || !is_count(probes_, *counts)) refuse("divides a sum over tokens by another number than theirs");
    Value out = in(node, 0);
    out.kind = Value::Kind::kRows;
    blocks_[static_cast<size_t>(functions_.base(out.term))].pool = fb::PoolKind::mean;
    return set(node, 0, std::move(out)), true;
  }
  if (op != "Mul") return false;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Value &rows = in(node, i), &other = in(node, 1 - i);
    if (rows.kind != Value::Kind::kRows || other.kind != Value::Kind::kHost) continue;
    const std::optional<std::vector<HostTensor>> seen = of_each_token(rows.axes, other.host);
    if (!seen || !is_mask(probes_, *seen)) continue;
    Value out = rows;
    out.masked = true;
    return set(node, 0, std::move(out)), true;
  }
  return false;
}

/// Inference only: one factor and one summand per column.
void Lowering::read_batch_norm(const Node& node) {
  const Value& x = in(node, 0);
  if (node.integer("training_mode", 0) != 0 || x.axes.size() < 2) refuse("is that of training");
  const auto columns = static_cast<int64_t>(at(functions_.base(x.term)).columns);
  std::vector<std::shared_ptr<const HostTensor>> of;
  for (size_t i = 1; i < 5; ++i) {
    of.push_back(constant_of(in(node, i)));
    if (of.back() == nullptr || static_cast<int64_t>(of.back()->size()) != columns) refuse("its numbers do not fit");
  }
  if (!(x.axes[1] == Axis{columns_atom(columns)})) refuse("norms something else than columns");
  std::vector<double> factors, numbers;
  for (size_t i = 0; i < of[0]->size(); ++i) {
    factors.push_back(of[0]->at(i) / std::sqrt(of[3]->at(i) + double{node.number("epsilon", 1e-5F)}));
    numbers.push_back(of[1]->at(i) - of[2]->at(i) * factors.back());
  }
  const int32_t scaled = functions_.apply("Mul", x.term, functions_.vector(std::move(factors), ""));
  set_term(node, x, functions_.apply("Add", scaled, functions_.vector(std::move(numbers), "")), x.axes);
}

Stage Lowering::norm_stage(const Node& node, size_t gamma, size_t beta, float epsilon) const {
  Stage stage;
  stage.kind = Stage::Kind::kNorm;
  stage.norm = fb::NormKind::layer;
  stage.epsilon = double{epsilon};
  const auto take = [&](size_t i, std::vector<float>* out, std::string* name) {
    if (!there(node, i)) return;
    const std::shared_ptr<const HostTensor> values = constant_of(in(node, i));
    if (values == nullptr) refuse("its scale is not a constant");
    for (size_t k = 0; k < values->size(); ++k) out->push_back(static_cast<float>(values->at(k)));
    *name = in(node, i).constant.name;
  };
  take(gamma, &stage.gamma, &stage.gamma_name);
  take(beta, &stage.beta, &stage.beta_name);
  return stage;
}

void Lowering::read_norm(const Node& node) {
  const Value& x = in(node, 0);
  const size_t axis = axis_of(x, node.integer("axis", -1));
  if (axis + 1 != x.axes.size()) refuse("norms more than the columns");
  const auto columns = static_cast<int64_t>(at(functions_.base(x.term)).columns);
  const bool all = x.axes[axis] == Axis{columns_atom(columns)};
  // Heads have an axis of their own, or are merged with the axis of tokens.
  const bool of_tokens = x.axes[axis].size() == 1 && x.axes[axis][0].step == 1 &&
                         flat(x.axes) == Axis{kBatchAtom, kTokensAtom, columns_atom(columns)};
  if (!all && !is_of_heads(x.axes) && !of_tokens) refuse("norms a part of the columns");
  const bool rms = node.op != "LayerNormalization";
  const float epsilon = node.number("epsilon", 1e-5F);
  if (rms && all && !functions_.is_rows(x.term) && there(node, 1)) {
    // Together with the preceding steps it may be another norm: on rows minus their mean it is a layer norm.
    const int32_t mean = functions_.apply("ReduceMean", functions_.apply("Mul", x.term, x.term));
    const int32_t root = functions_.apply("Sqrt", functions_.apply("Add", mean, functions_.scalar(double{epsilon})));
    const int32_t normed = functions_.apply("Div", x.term, root);
    return set_term(node, x, functions_.apply("Mul", normed, term_of(in(node, 1), x)), x.axes);
  }
  Block block;
  block.name = node.name;
  block.inputs = {block_of(x)};
  block.columns = static_cast<uint32_t>(columns);
  block.of_tokens = at(block.inputs[0]).of_tokens;
  block.stage = norm_stage(node, 1, 2, epsilon);
  if (rms) block.stage.norm = fb::NormKind::rms;
  if (!all) block.stage.group = static_cast<uint32_t>(x.axes[axis][0].extent);
  set(node, 0, rows_of(add(std::move(block)), x.axes));
}

int32_t Lowering::activated(const Node& node, int32_t x, fb::ActivationKind kind) {
  Block block;
  block.name = node.name;
  block.inputs = {x};
  block.columns = at(x).columns;
  block.of_tokens = at(x).of_tokens;
  block.stage.kind = Stage::Kind::kActivation;
  block.stage.activation = kind;
  return add(std::move(block));
}

}  // namespace bantam::convert::onnx
