// Products of rows and constant matrices, in floats and in all int8 forms; concatenations of tokens with their
// neighbors; recurrent layers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/kernels.h"
#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {
namespace {

/// The rows of one direction's gates in the graph's order, each gate padded with zeros to a multiple of 16 rows.
/// `from`: [directions, gates, cells, columns...]; `order`: the file's gate for each gate of the graph.
std::vector<double> in_order(const HostTensor& from, size_t direction, size_t directions,
                             const std::vector<size_t>& order, size_t cells, size_t columns) {
  const size_t block = kernels::pad16(static_cast<uint32_t>(cells)) * columns, each = from.size() / directions;
  std::vector<double> out(order.size() * block, 0);
  for (size_t gate = 0; gate < order.size(); ++gate) {
    const size_t begin = direction * each + order[gate] * cells * columns;
    for (size_t i = 0; i < cells * columns; ++i) out[gate * block + i] = from.at(begin + i);
  }
  return out;
}

std::vector<float> narrowed(const std::vector<double>& values) { return {values.begin(), values.end()}; }

}  // namespace

int32_t Lowering::linear(const Node& node, int32_t x, Parameter weight) {
  const std::vector<int64_t> shape = weight.dims();
  if (shape.size() != 2 || shape[0] != static_cast<int64_t>(at(x).columns)) {
    refuse("its matrix does not fit its rows");
  }
  for (const HostTensor* numbers : {weight.scale.get(), weight.zero.get()}) {
    const bool fits = numbers == nullptr || numbers->size() == 1 || static_cast<int64_t>(numbers->size()) == shape[0] ||
                      static_cast<int64_t>(numbers->size()) == shape[1];
    if (!fits) refuse("its scales do not fit");
  }
  weight.turned = !weight.turned;  // the graph stores outputs as rows
  Block block;
  block.kind = Block::Kind::kLinear;
  block.name = node.name;
  block.inputs = {x};
  block.columns = static_cast<uint32_t>(shape[1]);
  block.of_tokens = at(x).of_tokens;
  block.weight = std::move(weight);
  return add(std::move(block));
}

int32_t Lowering::biased(const Node& node, int32_t x, const Value& bias) {
  const std::shared_ptr<const HostTensor> values = constant_of(bias);
  if (values == nullptr || values->size() != at(x).columns) refuse("its bias does not fit");
  Block block;
  block.name = node.name;
  block.inputs = {x};
  block.columns = at(x).columns;
  block.of_tokens = at(x).of_tokens;
  for (size_t i = 0; i < values->size(); ++i) block.stage.beta.push_back(static_cast<float>(values->at(i)));
  block.stage.beta_name = bias.constant.name;
  const bool none = std::all_of(block.stage.beta.begin(), block.stage.beta.end(), [](float v) { return v == 0; });
  return none && bias.constant.name.empty() ? x : add(std::move(block));
}

void Lowering::read_matrix(const Node& node, const Value& x, Parameter weight, const Value* bias) {
  const int32_t rows = block_of(x);
  const auto columns = static_cast<int64_t>(at(rows).columns);
  const Axis whole = columns == 1 ? Axis{} : Axis{columns_atom(columns)};
  if (x.axes.empty() || !(x.axes.back() == whole)) {
    refuse("multiplies a part of the columns, or columns in another order, with a matrix");
  }
  int32_t y = linear(node, rows, std::move(weight));
  if (bias != nullptr) y = biased(node, y, *bias);
  Axes axes = x.axes;
  axes.back() = at(y).columns == 1 ? Axis{} : Axis{columns_atom(at(y).columns)};
  set(node, 0, rows_of(y, std::move(axes)));
}

void Lowering::read_gemm(const Node& node) {
  if (node.number("alpha", 1) != 1 || (there(node, 2) && node.number("beta", 1) != 1) ||
      node.integer("transA", 0) != 0) {
    refuse("has factors, or turns its rows");
  }
  Parameter weight = in(node, 1).constant;
  if (node.integer("transB", 0) != 0) weight.turned = !weight.turned;
  read_matrix(node, in(node, 0), std::move(weight), there(node, 2) ? &in(node, 2) : nullptr);
  if (node.op == "FusedGemm") read_activation(node);
}

/// Applies the activation that a fused operator names to its output.
void Lowering::read_activation(const Node& node) {
  static const std::map<std::string, fb::ActivationKind> kKinds = {
      {"Relu", fb::ActivationKind::relu}, {"Tanh", fb::ActivationKind::tanh}, {"Sigmoid", fb::ActivationKind::sigmoid}};
  const auto kind = kKinds.find(node.text("activation", ""));
  if (kind == kKinds.end()) refuse("its activation is not known");
  const Value y = values_.at(node.output(0));
  set(node, 0, rows_of(activated(node, block_of(y), kind->second), y.axes));
}

/// Dequantizes. Constants stay integers with scales; rows of activations have stayed floats throughout.
void Lowering::read_dequantize(const Node& node) {
  Value out = in(node, 0);
  const std::shared_ptr<const HostTensor> scale = constant_of(in(node, 1));
  std::shared_ptr<const HostTensor> zero = there(node, 2) ? constant_of(in(node, 2)) : nullptr;
  if (scale == nullptr || (there(node, 2) && zero == nullptr)) refuse("its scale is not a constant");
  if (zero != nullptr && std::all_of(zero->ints.begin(), zero->ints.end(), [](int64_t v) { return v == 0; })) {
    const bool u8 = out.constant.tensor != nullptr && out.constant.tensor->type == Type::u8;
    if (!u8) zero = nullptr;
  }
  Parameter* integers = out.kind == Value::Kind::kConstant ? &out.constant : nullptr;
  if (out.kind == Value::Kind::kRows) {
    Block& block = blocks_[static_cast<size_t>(functions_.base(out.term))];
    const bool table = block.kind == Block::Kind::kEmbed && block.weight.is_integer() && block.weight.scale == nullptr;
    if (table) integers = &block.weight;
  }
  if (integers != nullptr) {
    if (!integers->is_integer() || integers->scale != nullptr) refuse("its inputs are not integers");
    const auto rank = static_cast<int64_t>(integers->dims().size());
    int64_t axis = node.integer("axis", 1);
    if (axis < 0) axis += rank;
    const auto fits = [&](const HostTensor& numbers) {
      const bool there = axis >= 0 && axis < rank;
      return numbers.size() == 1 ||
             (there && static_cast<int64_t>(numbers.size()) == integers->dims()[static_cast<size_t>(axis)]);
    };
    if (!fits(*scale) || (zero != nullptr && !fits(*zero))) refuse("its scales do not fit");
    if (node.integer("block_size", 0) != 0) refuse("has scales by blocks");
    integers->scale = scale;
    integers->zero = zero;
    integers->axis = scale->size() == 1 ? 0 : integers->turned ? 1 - axis : axis;
  }
  set(node, 0, std::move(out));
}

bool Lowering::read_products(const Node& node) {
  const std::string& op = node.op;
  const Value& x = in(node, 0);
  const auto constant = [&](size_t i) { return kind(node, i) == Value::Kind::kConstant; };
  if (node.domain == "com.microsoft" && op == "DynamicQuantizeLSTM") return read_recurrent(node);
  if (node.domain == "com.microsoft") {
    const auto scaled = [&](size_t weight, size_t scale, size_t zero) {
      Parameter matrix = in(node, weight).constant;
      matrix.scale = constant_of(in(node, scale));
      matrix.zero = there(node, zero) ? constant_of(in(node, zero)) : nullptr;
      if (matrix.scale == nullptr || !matrix.is_integer()) refuse("its scale is not a constant");
      matrix.axis = matrix.scale->size() == 1 ? 0 : matrix.turned ? 0 : 1;
      return matrix;
    };
    if (op == "DynamicQuantizeMatMul" && x.kind == Value::Kind::kRows && constant(1)) {
      read_matrix(node, x, scaled(1, 2, 3), there(node, 4) ? &in(node, 4) : nullptr);
      return true;
    }
    if (op == "MatMulIntegerToFloat" && x.quantised && constant(1)) {
      read_matrix(node, x, scaled(1, 3, 5), there(node, 6) ? &in(node, 6) : nullptr);
      return true;
    }
    if (op == "FusedGemm" && x.kind == Value::Kind::kRows && constant(1)) return read_gemm(node), true;
    if (op == "FusedConv" && x.kind == Value::Kind::kRows && constant(1) && !there(node, 3)) {
      return read_convolution(node), true;
    }
    if (op == "FusedMatMul" && x.kind == Value::Kind::kRows && constant(1) && node.number("alpha", 1) == 1 &&
        node.integer("transA", 0) == 0) {
      Parameter matrix = in(node, 1).constant;
      if (node.integer("transB", 0) != 0) matrix.turned = !matrix.turned;
      read_matrix(node, x, std::move(matrix), nullptr);
      return true;
    }
  }
  if (op == "QuantizeLinear") {
    // Masks are quantized, too; masked scores still stay far below visible ones.
    if (x.kind == Value::Kind::kRows) {
      notes_.insert("activations are quantised by the ranges of each run, not by the file's scales");
      if (cuts_at_zero(node) && !is_relu(x.term)) {
        return set_term(node, x, functions_.apply("Relu", x.term), x.axes), true;
      }
    }
    return set(node, 0, x), true;
  }
  if (op == "DequantizeLinear" && x.kind == Value::Kind::kHost && x.host.front().whole) {
    // Dequantize integers that were looked up for queries and keys, such as biases by distance.
    const std::optional<double> scale = number_of(in(node, 1)),
                                zero = there(node, 2) ? number_of(in(node, 2)) : std::optional(0.0);
    if (!scale || !zero) refuse("its scale is not a number");
    Value out = x;
    for (HostTensor& tensor : out.host) {
      std::vector<double> values;
      for (const int64_t value : tensor.ints) {
        values.push_back(double{static_cast<float>((static_cast<double>(value) - *zero) * *scale)});
      }
      tensor = host_floats(tensor.dims, std::move(values));
    }
    return set(node, 0, std::move(out)), true;
  }
  if (op == "DequantizeLinear") {
    if (x.kind == Value::Kind::kHost || (x.kind == Value::Kind::kConstant && !x.constant.is_integer())) {
      return set(node, 0, x), true;
    }
    return read_dequantize(node), true;
  }
  if (!node.domain.empty()) return false;
  if (read_scaled_constant(node)) return true;
  if (read_recurrent(node)) return true;
  if (op == "Conv" && x.kind == Value::Kind::kRows && constant(1)) return read_convolution(node), true;
  if (op == "Concat") {
    const bool neighbours = std::any_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& name) {
      const auto found = values_.find(name);
      return found != values_.end() && found->second.kind == Value::Kind::kNeighbours;
    });
    if (neighbours) return read_join_of_neighbours(node), true;
    if (x.kind == Value::Kind::kRows) return read_join(node), true;
  }
  if (op == "DynamicQuantizeLinear" && x.kind == Value::Kind::kRows) {
    Value y = x, step = x, zero = x;
    y.quantised = true;
    step.kind = Value::Kind::kStep;
    zero.kind = Value::Kind::kZero;
    set(node, 0, std::move(y));
    set(node, 1, std::move(step));
    return set(node, 2, std::move(zero)), true;
  }
  if ((op == "MatMulInteger" || op == "ConvInteger") && (x.quantised || table_of(x) != nullptr) && constant(1)) {
    Value out = x;
    out.kind = Value::Kind::kProduct;
    out.constant = in(node, 1).constant;
    const bool matrix = op == "MatMulInteger";
    if (!out.constant.is_integer() || (matrix && out.constant.dims().size() != 2))
      refuse("its matrix does not hold integers");
    if (!matrix) out.convolution = &node;
    if (!x.quantised && there(node, 2)) out.factor = constant_of(in(node, 2));
    out.constant.zero = there(node, 3) ? constant_of(in(node, 3)) : nullptr;
    out.quantised = false;
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Cast" && x.kind == Value::Kind::kProduct) return set(node, 0, x), true;
  if (op == "Mul") {
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const Value &a = in(node, i), &b = in(node, 1 - i);
      if (a.kind == Value::Kind::kProduct && b.kind == Value::Kind::kConstant)
        return read_scaled_lookup(node, a, b), true;
      if (a.kind == Value::Kind::kStep && b.kind == Value::Kind::kConstant) {
        Value out = a;
        out.factor = constant_of(b);
        if (out.factor == nullptr || a.factor != nullptr) refuse("its scales are not constants");
        return set(node, 0, std::move(out)), true;
      }
      if (a.kind == Value::Kind::kProduct && b.kind == Value::Kind::kStep) {
        if (collapse(a.term) != collapse(b.term) || b.factor == nullptr) refuse("scales a product by something else");
        return read_scaled_product(node, a, b.factor), true;
      }
    }
  }
  if (op == "MatMul" && x.kind == Value::Kind::kRows && constant(1)) {
    return read_matrix(node, x, in(node, 1).constant, nullptr), true;
  }
  if (op == "Gemm" && x.kind == Value::Kind::kRows && constant(1)) return read_gemm(node), true;
  return false;
}

/// The table of integers in which rows were looked up; null: there is none.
const Parameter* Lowering::table_of(const Value& rows) const {
  if (rows.kind != Value::Kind::kRows || !functions_.is_rows(rows.term)) return nullptr;
  const Block& block = at(functions_.base(rows.term));
  return block.kind == Block::Kind::kEmbed && block.weight.is_integer() ? &block.weight : nullptr;
}

/// Reads the multiplication of an integer product by the scale of its matrix or filters.
void Lowering::read_scaled_product(const Node& node, const Value& product, std::shared_ptr<const HostTensor> scale) {
  Value rows = product;
  rows.kind = Value::Kind::kRows;
  rows.factor = nullptr;
  Parameter weight = product.constant;
  const bool of_all = scale->size() == 1;
  weight.scale = std::move(scale);
  weight.axis = of_all || product.convolution != nullptr || weight.turned ? 0 : 1;
  if (product.convolution == nullptr) return read_matrix(node, rows, std::move(weight), nullptr);
  rows.convolution = nullptr;
  set(node, 0, convolved(*product.convolution, rows, std::move(weight)));
}

/// Reads the scaling of a product of rows from an integer table; the constant is the table's scale times the matrix's.
void Lowering::read_scaled_lookup(const Node& node, const Value& product, const Value& scale) {
  Value rows = product;
  rows.kind = Value::Kind::kRows;
  const std::shared_ptr<const HostTensor> both = constant_of(scale);
  if (table_of(rows) == nullptr || both == nullptr) refuse("scales a product by something else");
  const int32_t block = functions_.base(rows.term);
  Parameter& table = blocks_[static_cast<size_t>(block)].weight;
  std::shared_ptr<const HostTensor> of_table = table.scale;
  // The table's own scale may appear in a later node.
  for (const Node& other : model_.graph.nodes) {
    if (of_table != nullptr) break;
    const Value& read = in(other, 0);
    const bool same = other.op == "DequantizeLinear" && read.kind == Value::Kind::kRows &&
                      functions_.is_rows(read.term) && functions_.base(read.term) == block;
    if (same) of_table = constant_of(in(other, 1));
  }
  if (of_table == nullptr) {  // no other node reads its rows, so that the matrix can have the whole scale
    table.scale = of_table = std::make_shared<const HostTensor>(host_floats({}, {1}));
    table.zero = product.factor;
  }
  if (of_table->size() != 1) refuse("its table has more scales than one");
  HostTensor own = *both;
  for (double& value : own.floats) value /= of_table->at(0);
  read_scaled_product(node, product, std::make_shared<const HostTensor>(std::move(own)));
}

/// Returns true if the smallest integer represents 0. ONNX Runtime omits a Relu before such a QuantizeLinear, which has
/// the same effect.
bool Lowering::cuts_at_zero(const Node& node) const {
  if (!there(node, 2)) {
    const auto type = static_cast<Type>(node.integer("output_dtype", 0));
    return type == Type::undefined || type == Type::u8 || type == Type::u16;
  }
  const Value& zero = in(node, 2);
  const std::optional<double> number = number_of(zero);
  if (!number || zero.constant.tensor == nullptr) return false;
  switch (zero.constant.tensor->type) {
    case Type::u8:
    case Type::u16:
      return *number == 0;
    case Type::i8:
      return *number == -128;
    case Type::i16:
      return *number == -32768;
    default:
      return false;
  }
}

/// Returns true if the last step that computes these rows is a Relu.
bool Lowering::is_relu(int32_t term) const {
  if (functions_.is(term, "Relu")) return true;
  if (!functions_.is_rows(term)) return false;
  const Block& block = at(functions_.base(term));
  return block.kind == Block::Kind::kStage && block.stage.kind == Stage::Kind::kActivation &&
         block.stage.activation == fb::ActivationKind::relu;
}

int32_t Lowering::pooled(const Node& node, int32_t x, fb::PoolKind kind) {
  Block block;
  block.kind = Block::Kind::kPool;
  block.name = node.name;
  block.inputs = {x};
  block.columns = at(x).columns;
  block.of_tokens = false;
  block.pool = kind;
  return add(std::move(block));
}

int32_t Lowering::sliced(const Node& node, int32_t x, uint32_t begin, uint32_t columns) {
  Block block;
  block.kind = Block::Kind::kSlice;
  block.name = node.name;
  block.inputs = {x};
  block.begin = begin;
  block.columns = columns;
  block.of_tokens = at(x).of_tokens;
  return add(std::move(block));
}

int32_t Lowering::joined(const Node& node, int32_t a, int32_t b) {
  if (at(a).of_tokens != at(b).of_tokens) refuse("joins rows of tokens and rows of texts");
  Block block;
  block.kind = Block::Kind::kJoin;
  block.name = node.name;
  block.inputs = {a, b};
  block.columns = at(a).columns + at(b).columns;
  block.of_tokens = at(a).of_tokens;
  return add(std::move(block));
}

/// Concatenates the columns of several rows.
void Lowering::read_join(const Node& node) {
  const Value first = in(node, 0);
  const size_t axis = axis_of(first, node.integer("axis", 0));
  int32_t all = -1;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& part = in(node, i);
    const int32_t block = block_of(part);
    Axes axes = part.axes;
    const auto columns = static_cast<int64_t>(at(block).columns);
    const bool whole =
        axes.size() == first.axes.size() && axes[axis] == (columns == 1 ? Axis{} : Axis{columns_atom(columns)});
    if (whole) axes[axis] = first.axes[axis];
    if (!whole || !(axes == first.axes)) refuse("joins something else than the columns of rows");
    all = all < 0 ? block : joined(node, all, block);
  }
  Axes axes = first.axes;
  axes[axis] = {columns_atom(at(all).columns)};
  set(node, 0, rows_of(all, std::move(axes)));
}

/// Concatenates each token with its neighbors, in any order.
void Lowering::read_join_of_neighbours(const Node& node) {
  const Value first = in(node, 0);
  if (first.kind != Value::Kind::kRows && first.kind != Value::Kind::kNeighbours) refuse("joins no rows");
  const size_t axis = axis_of(first, node.integer("axis", 0));
  const int32_t rows = collapse(first.term);
  const uint32_t columns = at(rows).columns;
  std::vector<int64_t> shifts;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& part = in(node, i);
    const bool padded = part.kind == Value::Kind::kNeighbours && part.padded;
    if ((!padded && part.kind != Value::Kind::kRows) || !(part.axes == first.axes) || collapse(part.term) != rows ||
        !(part.axes[axis] == Axis{columns_atom(columns)})) {
      refuse("joins something else than tokens and their neighbours");
    }
    shifts.push_back(padded ? part.shift : 0);
  }
  const auto [least, most] = std::minmax_element(shifts.begin(), shifts.end());
  Block unfold;
  unfold.kind = Block::Kind::kUnfold;
  unfold.name = node.name;
  unfold.inputs = {rows};
  unfold.before = static_cast<uint32_t>(std::max<int64_t>(-*least, 0));
  unfold.after = static_cast<uint32_t>(std::max<int64_t>(*most, 0));
  unfold.columns = (unfold.before + 1 + unfold.after) * columns;
  const uint32_t before = unfold.before, places = unfold.before + 1 + unfold.after;
  int32_t all = add(std::move(unfold));
  bool ordered = shifts.size() == places;
  for (size_t i = 0; i < shifts.size(); ++i) ordered = ordered && shifts[i] + before == static_cast<int64_t>(i);
  if (!ordered) {
    const int32_t unfolded = all;
    all = -1;
    for (const int64_t shift : shifts) {
      const int32_t part = sliced(node, unfolded, static_cast<uint32_t>(shift + before) * columns, columns);
      all = all < 0 ? part : joined(node, all, part);
    }
  }
  Axes axes = first.axes;
  axes[axis] = {columns_atom(at(all).columns)};
  set(node, 0, rows_of(all, std::move(axes)));
}

/// Returns true if the activations are the usual ones, which files may also name explicitly.
bool Lowering::has_usual_activations(const Node& node) const {
  const auto given = node.attributes.find("activations");
  if (given == node.attributes.end()) return true;
  const std::vector<std::string> usual = node.op == "GRU" ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                          : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
  const std::vector<std::string>& names = given->second.strings;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != usual[i % usual.size()]) return false;
  }
  return !names.empty() && names.size() % usual.size() == 0 && !node.has("activation_alpha") &&
         !node.has("activation_beta");
}

/// Returns true if the lengths are those of the mask, or the number of all tokens if there is no mask.
bool Lowering::is_whole_length(const Value& lengths) const {
  const std::optional<std::vector<HostTensor>> given = host(lengths);
  if (!given) return false;
  if (has_input(InputRole::kMask)) return is_count(probes_, *given);
  for (size_t p = 0; p < probes_.size(); ++p) {
    for (size_t i = 0; i < (*given)[p].size(); ++i) {
      if ((*given)[p].integer(i) != extents(p).tokens) return false;
    }
  }
  return true;
}

void Lowering::require_zeros(const Node& node, size_t input) const {
  if (!there(node, input)) return;
  const std::optional<std::vector<HostTensor>> given = host(in(node, input));
  bool zero = given.has_value();
  for (size_t p = 0; zero && p < given->size(); ++p) {
    for (size_t i = 0; i < (*given)[p].size(); ++i) zero = zero && (*given)[p].at(i) == 0;
  }
  if (!zero) refuse("begins with states that are not 0");
}

/// Converts integer weights [directions, columns, gates] to floats [directions, gates, columns].
std::shared_ptr<const HostTensor> Lowering::gates_of_integers(const Node& node, size_t input) const {
  const size_t scales = 2 * input + 6;  // 8 and 10, each followed by zero points
  const std::shared_ptr<const HostTensor> given = constant_of(in(node, input)), scale = constant_of(in(node, scales)),
                                          zero = constant_of(in(node, scales + 1));
  if (given == nullptr || scale == nullptr || zero == nullptr || given->dims.size() != 3) return nullptr;
  const auto directions = static_cast<size_t>(given->dims[0]), columns = static_cast<size_t>(given->dims[1]),
             gates = static_cast<size_t>(given->dims[2]);
  // One scale per direction, or one per gate row of each direction.
  const size_t each = scale->size() == directions ? 1 : gates;
  if (scale->size() != directions * each || zero->size() != scale->size()) return nullptr;
  HostTensor out = host_floats({given->dims[0], given->dims[2], given->dims[1]}, {});
  for (size_t i = 0; i < given->size(); ++i) {
    const size_t direction = i / gates / columns, gate = i / columns % gates, column = i % columns;
    const size_t of = direction * each + (each == 1 ? 0 : gate);
    out.floats.push_back((given->at((direction * columns + column) * gates + gate) - zero->at(of)) * scale->at(of));
  }
  return std::make_shared<const HostTensor>(std::move(out));
}

/// LSTM and GRU: one matrix computes the gate contributions of the rows, including the bias; each direction has a
/// matrix for the states.
bool Lowering::read_recurrent(const Node& node) {
  const bool integers = node.op == "DynamicQuantizeLSTM";
  const bool lstm = node.op == "LSTM" || integers;
  if ((!lstm && node.op != "GRU") || kind(node, 0) != Value::Kind::kRows) return false;
  const Value x = in(node, 0);
  const bool texts_first = node.integer("layout", 0) != 0;
  const Axes expected = texts_first ? Axes{{kBatchAtom}, {kTokensAtom}} : Axes{{kTokensAtom}, {kBatchAtom}};
  const int32_t rows = block_of(x);
  const auto columns = static_cast<int64_t>(at(rows).columns), cells = node.integer("hidden_size", 0);
  const bool plain = x.axes.size() == 3 && x.axes[0] == expected[0] && x.axes[1] == expected[1] &&
                     x.axes[2] == Axis{columns_atom(columns)};
  if (!plain) refuse("goes through something else than the tokens of texts");
  if ((there(node, 4) && !is_whole_length(in(node, 4))) || there(node, 7) || !has_usual_activations(node) ||
      node.has("clip") || node.integer("input_forget", 0) != 0 ||
      (!lstm && node.integer("linear_before_reset", 0) == 0)) {
    refuse("has lengths, peepholes, other activations or its reset gate in front of the product");
  }
  for (const size_t state : {size_t{5}, size_t{6}}) require_zeros(node, state);
  const std::string direction = node.text("direction", "forward");
  const bool both = direction == "bidirectional", reverse = direction == "reverse";
  const std::vector<size_t> order = lstm ? std::vector<size_t>{0, 2, 3, 1} : std::vector<size_t>{1, 0, 2};
  const int64_t gates = static_cast<int64_t>(order.size()), directions = both ? 2 : 1;
  const auto weights = [&](size_t i) { return integers ? gates_of_integers(node, i) : constant_of(in(node, i)); };
  const std::shared_ptr<const HostTensor> of_rows = weights(1), of_states = weights(2),
                                          bias = there(node, 3) ? constant_of(in(node, 3)) : nullptr;
  constexpr int64_t kMostCells = 1 << 14;
  if (of_rows == nullptr || of_states == nullptr || (there(node, 3) && bias == nullptr)) {
    refuse("its weights are not constants, or larger than is read here");
  }
  const auto size = [](const std::shared_ptr<const HostTensor>& t) { return static_cast<int64_t>(t->size()); };
  if (cells < 1 || cells > kMostCells || size(of_rows) != directions * gates * cells * columns ||
      size(of_states) != directions * gates * cells * cells ||
      (bias != nullptr && size(bias) != 2 * directions * gates * cells)) {
    refuse("its weights do not fit");
  }
  const auto count = static_cast<size_t>(cells), width = static_cast<size_t>(columns);
  const int64_t padded = gates * kernels::pad16(static_cast<uint32_t>(cells));
  std::vector<double> inputs, biases;
  Block recurrent;
  for (size_t d = 0; d < static_cast<size_t>(directions); ++d) {
    const auto ordered = [&](const HostTensor& t, size_t of) {
      return in_order(t, d, static_cast<size_t>(directions), order, count, of);
    };
    const std::vector<double> given = ordered(*of_rows, width);
    inputs.insert(inputs.end(), given.begin(), given.end());
    recurrent.states.push_back(matrix_parameter(in(node, 2).constant.name, padded, cells, ordered(*of_states, count)));
    recurrent.state_biases.emplace_back();
    if (bias == nullptr) continue;
    std::vector<double> own = ordered(*bias, 1);
    // The biases of the states follow those of the rows.
    std::vector<size_t> behind = order;
    for (size_t& gate : behind) gate += order.size();
    std::vector<double> states = in_order(*bias, d, static_cast<size_t>(directions), behind, count, 1);
    // A GRU multiplies the state's contribution to its last gate, including the bias, by the reset gate.
    const size_t stays = lstm ? own.size() : own.size() / 3 * 2;
    for (size_t i = 0; i < stays; ++i) own[i] += states[i];
    std::fill_n(states.begin(), stays, 0.0);
    if (!lstm) recurrent.state_biases.back() = narrowed(states);
    biases.insert(biases.end(), own.begin(), own.end());
  }
  Block input;
  input.kind = Block::Kind::kLinear;
  input.name = node.name;
  input.inputs = {rows};
  input.columns = static_cast<uint32_t>(directions * padded);
  input.weight = matrix_parameter(in(node, 1).constant.name, directions * padded, columns, std::move(inputs));
  int32_t given = add(std::move(input));
  if (!biases.empty()) {
    Value value;
    value.kind = Value::Kind::kConstant;
    value.constant.name = in(node, 3).constant.name;
    value.constant.folded = std::make_shared<const HostTensor>(host_floats({directions * padded}, std::move(biases)));
    given = biased(node, given, value);
  }
  recurrent.kind = Block::Kind::kRecurrent;
  recurrent.name = node.name;
  recurrent.inputs = {given};
  recurrent.columns = static_cast<uint32_t>(directions * cells);
  recurrent.cell = lstm ? fb::Cell::lstm : fb::Cell::gru;
  recurrent.cells = static_cast<uint32_t>(cells);
  recurrent.reverse = reverse;
  const int32_t y = add(std::move(recurrent));
  const Axis sides = both ? Axis{columns_atom(2, cells)} : Axis{},
             own = cells == 1 ? Axis{} : Axis{columns_atom(cells)};
  const Axes out =
      texts_first ? Axes{expected[0], expected[1], sides, own} : Axes{expected[0], sides, expected[1], own};
  set(node, 0, rows_of(y, out));
  if (node.output(1).empty() || uses_[node.output(1)] == 0) return true;
  // The final states: after the last token, and, in reverse direction, before the first.
  const auto half = static_cast<uint32_t>(cells);
  const int32_t last = both ? joined(node, pooled(node, sliced(node, y, 0, half), fb::PoolKind::last),
                                     pooled(node, sliced(node, y, half, half), fb::PoolKind::first))
                            : pooled(node, y, reverse ? fb::PoolKind::first : fb::PoolKind::last);
  set(node, 1, rows_of(last, texts_first ? Axes{{kBatchAtom}, sides, own} : Axes{sides, {kBatchAtom}, own}));
  return true;
}

}  // namespace bantam::convert::onnx
