// Matrices of packed integers with one scale per block: MatMulNBits and GatherBlockQuantized of ONNX Runtime,
// DequantizeLinear of int4 and of blocks. They stay packed in the file until they are stored.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {

bool Lowering::read_blocked(const Node& node) {
  const bool microsoft = node.domain == "com.microsoft";
  if (microsoft && node.op == "MatMulNBits") return read_blocked_product(node), true;
  if (microsoft && node.op == "GatherBlockQuantized") return read_blocked_lookup(node), true;
  if (node.op != "DequantizeLinear" || kind(node, 0) != Value::Kind::kConstant) return false;
  const Tensor* tensor = in(node, 0).constant.tensor;
  if (tensor == nullptr || (!is_half_byte(tensor->type) && node.integer("block_size", 0) == 0)) return false;
  return read_blocked_constant(node), true;
}

/// A constant of 8-bit or 4-bit integers, as a matrix.
BlockedIntegers Lowering::packed_matrix(const Value& value) const {
  const Tensor* tensor = value.kind == Value::Kind::kConstant ? value.constant.tensor : nullptr;
  if (tensor == nullptr || value.constant.turned || tensor->dims.size() != 2)
    refuse("its integers are not a constant matrix");
  const bool halves = is_half_byte(tensor->type), bytes = tensor->type == Type::u8 || tensor->type == Type::i8;
  if (!halves && !bytes) refuse("its integers are neither of 4 nor of 8 bits");
  BlockedIntegers out;
  out.bytes = tensor->bytes;
  out.owned = tensor->owned;
  out.bits = halves ? 4 : 8;
  out.is_signed = tensor->type == Type::i4 || tensor->type == Type::i8;
  out.rows = tensor->dims[0];
  out.columns = out.stride = tensor->dims[1];
  return out;
}

/// Sets scales and zero points: one for all, one per index along `axis`, or one per `block` indices along it and per
/// index along the other axis.
void Lowering::set_scales(const Node& node, size_t scale, size_t zero, size_t axis, int64_t block, double usual,
                          BlockedIntegers& to) const {
  to.scales = constant_of(in(node, scale));
  if (to.scales == nullptr) refuse("its scales are not constants, or more than are read here");
  const auto count = static_cast<int64_t>(to.scales->size());
  constexpr int64_t kMostBlock = int64_t{1} << 31;
  if (block < 0 || block > kMostBlock || (block > 0 && to.scales->dims.size() != 2)) refuse("its scales do not fit");
  const int64_t along = axis == 0 ? to.rows : to.columns, blocks = block > 0 ? (along + block - 1) / block : along;
  if (block == 0 && count == 1) {
    to.row_block = std::max<int64_t>(to.rows, 1);
    to.column_block = std::max<int64_t>(to.columns, 1);
  } else if (axis == 0) {
    to.row_block = std::max<int64_t>(block, 1);
    to.column_block = block > 0 ? 1 : std::max<int64_t>(to.columns, 1);
    to.scale_columns = block > 0 ? to.columns : 1;
  } else {
    to.row_block = block > 0 ? 1 : std::max<int64_t>(to.rows, 1);
    to.column_block = std::max<int64_t>(block, 1);
    to.scale_columns = blocks;
  }
  const bool one = block == 0 && count == 1;
  const int64_t expected = one ? 1 : block == 0 ? along : blocks * (axis == 0 ? to.columns : to.rows);
  if (count != expected) refuse("its scales do not fit");
  to.zeros = {usual};
  if (!there(node, zero)) return;
  const Value& given = in(node, zero);
  if (given.kind != Value::Kind::kConstant) refuse("its zeros are not constants");
  to.zeros.clear();
  const Tensor* tensor = given.constant.tensor;
  const bool packed = tensor != nullptr && is_half_byte(tensor->type);
  if (packed && static_cast<int64_t>(tensor->elements) == count) {
    for (uint64_t i = 0; i < tensor->elements; ++i) {
      int value = static_cast<unsigned char>(tensor->bytes[static_cast<size_t>(i / 2)]) >> (i % 2 * 4) & 15;
      if (tensor->type == Type::i4 && value > 7) value -= 16;
      to.zeros.push_back(value);
    }
    return;
  }
  const std::shared_ptr<const HostTensor> zeros = packed ? nullptr : constant_of(given);
  if (zeros == nullptr || static_cast<int64_t>(zeros->size()) != count) refuse("its zeros do not fit");
  for (size_t i = 0; i < zeros->size(); ++i) to.zeros.push_back(zeros->at(i));
}

void Lowering::read_blocked_constant(const Node& node) {
  BlockedIntegers made = packed_matrix(in(node, 0));
  int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += 2;
  if (axis != 0 && axis != 1) refuse("its axis does not exist");
  set_scales(node, 1, 2, static_cast<size_t>(axis), node.integer("block_size", 0), 0, made);
  Value out;
  out.kind = Value::Kind::kConstant;
  out.constant.name = in(node, 0).constant.name;
  out.constant.blocked = std::make_shared<const BlockedIntegers>(std::move(made));
  set(node, 0, std::move(out));
}

/// A product with a matrix [outputs, blocks, bytes of a block].
void Lowering::read_blocked_product(const Node& node) {
  const Value& packed = in(node, 1);
  const Tensor* tensor = packed.kind == Value::Kind::kConstant ? packed.constant.tensor : nullptr;
  const int64_t columns = node.integer("K", 0), rows = node.integer("N", 0), bits = node.integer("bits", 4),
                block = node.integer("block_size", 0);
  constexpr int64_t kMostExtent = 1 << 20, kMostBlock = 1 << 12;
  if (in(node, 0).kind != Value::Kind::kRows || tensor == nullptr || tensor->type != Type::u8) {
    refuse("its matrix is not a constant");
  }
  if (there(node, 4)) refuse("has blocks in another order");
  if ((bits != 2 && bits != 4 && bits != 8) || columns < 1 || rows < 1 || columns > kMostExtent || rows > kMostExtent ||
      block < 8 || block > kMostBlock || block * bits % 8 != 0) {
    refuse("its sizes are none of 2, 4 or 8 bits in blocks");
  }
  const int64_t blocks = (columns + block - 1) / block;
  if (static_cast<int64_t>(tensor->bytes.size()) != rows * blocks * block * bits / 8) refuse("its matrix does not fit");
  BlockedIntegers made;
  made.bytes = tensor->bytes;
  made.owned = tensor->owned;
  made.bits = static_cast<uint32_t>(bits);
  made.rows = rows;
  made.columns = columns;
  made.stride = blocks * block;
  made.column_block = block;
  made.scale_columns = blocks;
  made.scales = constant_of(in(node, 2));
  if (made.scales == nullptr || static_cast<int64_t>(made.scales->size()) != rows * blocks)
    refuse("its scales do not fit");
  made.zeros = {static_cast<double>(1 << (bits - 1))};
  if (there(node, 3)) {
    const std::shared_ptr<const HostTensor> zeros = constant_of(in(node, 3));
    // Zero points are floats, one per scale, or packed like the integers, with each row in whole bytes.
    const int64_t row_bytes = (blocks * bits + 7) / 8;
    const auto count = zeros == nullptr ? 0 : static_cast<int64_t>(zeros->size());
    if (count == 0 || (zeros->whole ? count != rows * row_bytes : count != rows * blocks))
      refuse("its zeros do not fit");
    made.zeros.clear();
    for (int64_t i = 0; i < rows * blocks; ++i) {
      const int64_t bit = i % blocks * bits;
      const int64_t byte = zeros->whole ? zeros->ints[static_cast<size_t>(i / blocks * row_bytes + bit / 8)] : 0;
      made.zeros.push_back(zeros->whole ? static_cast<double>(byte >> (bit % 8) & ((1 << bits) - 1))
                                        : zeros->floats[static_cast<size_t>(i)]);
    }
  }
  Parameter weight;
  weight.name = packed.constant.name;
  weight.blocked = std::make_shared<const BlockedIntegers>(std::move(made));
  weight.turned = true;  // [inputs, outputs], as read_matrix() expects it
  read_matrix(node, in(node, 0), std::move(weight), there(node, 5) ? &in(node, 5) : nullptr);
}

/// A lookup of table rows.
void Lowering::read_blocked_lookup(const Node& node) {
  const Value& packed = in(node, 0);
  BlockedIntegers made = packed_matrix(packed);
  const auto bits = static_cast<uint32_t>(node.integer("bits", 4));
  double usual = 0;
  if (packed.constant.tensor->type == Type::u8) {  // several per byte
    if (bits != 2 && bits != 4 && bits != 8) refuse("its integers are none of 2, 4 or 8 bits");
    made.bits = bits;
    made.columns = made.stride = made.columns * (8 / static_cast<int64_t>(bits));
    usual = 1 << (bits - 1);
    if (bits != 8 && there(node, 3)) refuse("packs its zeros into bytes");
  }
  int64_t axis = node.integer("quantize_axis", 1);
  if (axis < 0) axis += 2;
  if (axis != 1 || node.integer("gather_axis", 0) != 0) refuse("looks up something else than rows of a table");
  set_scales(node, 2, 3, 1, node.integer("block_size", 128), usual, made);
  Value table;
  table.kind = Value::Kind::kConstant;
  table.constant.name = packed.constant.name;
  table.constant.blocked = std::make_shared<const BlockedIntegers>(std::move(made));
  read_lookup(node, table, in(node, 1));
}

/// Returns true for a matrix of 8-bit integers that stays in the file.
bool Lowering::is_large_integers(const Value& value) const {
  const Parameter& matrix = value.constant;
  constexpr uint64_t kFew = 1U << 10;
  return value.kind == Value::Kind::kConstant && matrix.tensor != nullptr && matrix.is_integer() &&
         bytes_of(matrix.tensor->type) == 1 && matrix.tensor->type != Type::boolean && matrix.dims().size() == 2 &&
         matrix.tensor->elements >= kFew;
}

/// Reads the dequantization of a constant by Sub of its zero point and Mul by its scale.
bool Lowering::read_scaled_constant(const Node& node) {
  if (node.op != "Mul" && node.op != "Sub") return false;
  const size_t i = is_large_integers(in(node, 0)) ? 0 : 1;
  if (!is_large_integers(in(node, i)) || (node.op == "Sub" && i == 1)) return false;
  Value out = in(node, i);
  Parameter& matrix = out.constant;
  const std::shared_ptr<const HostTensor> numbers = constant_of(in(node, 1 - i));
  if (numbers == nullptr) return false;
  const std::vector<int64_t> shape = matrix.dims();
  const std::vector<int64_t>& given = numbers->dims;
  int64_t axis = 0;
  if (numbers->size() != 1) {
    const bool columns = given.back() == shape[1] && static_cast<int64_t>(numbers->size()) == shape[1];
    const bool rows = given.size() == 2 && given[0] == shape[0] && given[1] == 1;
    if (!columns && !rows) refuse("its scales are neither of all, nor of rows, nor of columns");
    axis = rows ? 0 : 1;
  }
  const int64_t stored = numbers->size() == 1 ? 0 : matrix.turned ? 1 - axis : axis;
  const bool sub = node.op == "Sub";
  if (matrix.scale != nullptr || (sub && matrix.zero != nullptr)) refuse("scales integers twice");
  const bool other =
      !sub && matrix.zero != nullptr && matrix.zero->size() != 1 && numbers->size() != 1 && matrix.axis != stored;
  if (other) refuse("its zeros are of rows, and its scales of columns");
  if (numbers->size() != 1) matrix.axis = stored;
  (sub ? matrix.zero : matrix.scale) = numbers;
  set(node, 0, std::move(out));
  return true;
}

}  // namespace bantam::convert::onnx
