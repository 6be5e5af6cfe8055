// Products of rows and constant matrices, in floats and in every spelling of int8.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/onnx/lowering.h"

namespace bantam::convert::onnx {

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
  weight.turned = !weight.turned;  // the graph has outputs as rows
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
  if (node.op != "FusedGemm") return;
  static const std::map<std::string, fb::ActivationKind> kKinds = {
      {"Relu", fb::ActivationKind::relu}, {"Tanh", fb::ActivationKind::tanh}, {"Sigmoid", fb::ActivationKind::sigmoid}};
  const auto kind = kKinds.find(node.text("activation", ""));
  if (kind == kKinds.end()) refuse("its activation is not known");
  const Value y = values_.at(node.output(0));
  set(node, 0, rows_of(activated(node, block_of(y), kind->second), y.axes));
}

/// Integers become numbers again: of constants they stay integers with scales; rows were never others.
void Lowering::read_dequantize(const Node& node) {
  Value out = in(node, 0);
  const std::shared_ptr<const HostTensor> scale = constant_of(in(node, 1));
  std::shared_ptr<const HostTensor> zero = there(node, 2) ? constant_of(in(node, 2)) : nullptr;
  if (scale == nullptr || (there(node, 2) && zero == nullptr)) refuse("its scale is no constant");
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
    if (!integers->is_integer() || integers->scale != nullptr) refuse("its input are no integers");
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
  if (node.domain == "com.microsoft") {
    const auto scaled = [&](size_t weight, size_t scale, size_t zero) {
      Parameter matrix = in(node, weight).constant;
      matrix.scale = constant_of(in(node, scale));
      matrix.zero = there(node, zero) ? constant_of(in(node, zero)) : nullptr;
      if (matrix.scale == nullptr || !matrix.is_integer()) refuse("its scale is no constant");
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
    if (op == "FusedMatMul" && x.kind == Value::Kind::kRows && constant(1) && node.number("alpha", 1) == 1 &&
        node.integer("transA", 0) == 0) {
      Parameter matrix = in(node, 1).constant;
      if (node.integer("transB", 0) != 0) matrix.turned = !matrix.turned;
      read_matrix(node, x, std::move(matrix), nullptr);
      return true;
    }
  }
  if (op == "QuantizeLinear") {
    // Masks, too, are quantised: what they hide stays far below what they show.
    if (x.kind == Value::Kind::kRows) {
      notes_.insert("activations are quantised by the ranges of each run, not by the file's scales");
    }
    return set(node, 0, x), true;
  }
  if (op == "DequantizeLinear") {
    if (x.kind == Value::Kind::kHost || (x.kind == Value::Kind::kConstant && !x.constant.is_integer())) {
      return set(node, 0, x), true;
    }
    return read_dequantize(node), true;
  }
  if (!node.domain.empty()) return false;
  if (op == "DynamicQuantizeLinear" && x.kind == Value::Kind::kRows) {
    Value y = x, step = x, zero = x;
    y.quantised = true;
    step.kind = Value::Kind::kStep;
    zero.kind = Value::Kind::kZero;
    set(node, 0, std::move(y));
    set(node, 1, std::move(step));
    return set(node, 2, std::move(zero)), true;
  }
  if (op == "MatMulInteger" && x.quantised && constant(1)) {
    Value out = x;
    out.kind = Value::Kind::kProduct;
    out.constant = in(node, 1).constant;
    if (!out.constant.is_integer() || out.constant.dims().size() != 2) refuse("its matrix are no integers");
    out.constant.zero = there(node, 3) ? constant_of(in(node, 3)) : nullptr;
    out.quantised = false;
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Cast" && x.kind == Value::Kind::kProduct) return set(node, 0, x), true;
  if (op == "Mul") {
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const Value &a = in(node, i), &b = in(node, 1 - i);
      if (a.kind == Value::Kind::kStep && b.kind == Value::Kind::kConstant) {
        Value out = a;
        out.factor = constant_of(b);
        if (out.factor == nullptr || a.factor != nullptr) refuse("its scales are no constants");
        return set(node, 0, std::move(out)), true;
      }
      if (a.kind == Value::Kind::kProduct && b.kind == Value::Kind::kStep) {
        if (collapse(a.term) != collapse(b.term) || b.factor == nullptr) refuse("scales a product by something else");
        Parameter weight = a.constant;
        weight.scale = b.factor;
        weight.axis = b.factor->size() == 1 ? 0 : weight.turned ? 0 : 1;
        Value rows = a;
        rows.kind = Value::Kind::kRows;
        read_matrix(node, rows, std::move(weight), nullptr);
        return true;
      }
    }
  }
  if (op == "MatMul" && x.kind == Value::Kind::kRows && constant(1)) {
    return read_matrix(node, x, in(node, 1).constant, nullptr), true;
  }
  if (op == "Gemm" && x.kind == Value::Kind::kRows && constant(1)) return read_gemm(node), true;
  return false;
}

}  // namespace bantam::convert::onnx
