// Nodes that compute one row per text: pools over all tokens, token weights by a softmax (attention pooling), and final
// operators.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {

bool Lowering::read_pools(const Node& node) {
  if (!node.domain.empty()) return false;
  const std::string& op = node.op;
  if (read_stack(node)) return true;
  const Value::Kind x = kind(node, 0);
  if ((op == "Softmax" || op == "LogSoftmax") && (x == Value::Kind::kRows || x == Value::Kind::kMaximum)) {
    const Value& rows = in(node, 0);
    const size_t axis = axis_of(rows, node.integer("axis", model_.opset < 13 ? 1 : -1));
    // In older opsets the softmax covers all axes from this one on.
    if (model_.opset < 13 && axis + 1 != rows.axes.size()) refuse("goes over several axes");
    if (op == "Softmax" && is_tokens(rows.axes[axis])) return read_weights(node), true;
    return read_ending(node), true;
  }
  const bool largest = op == "MaxPool" || op == "GlobalMaxPool",
             mean = op == "AveragePool" || op == "GlobalAveragePool";
  if ((largest || mean) && x == Value::Kind::kRows) {
    const Value& rows = in(node, 0);
    const bool all = op.rfind("Global", 0) == 0;
    const std::vector<int64_t> windows = node.integers("kernel_shape"), pads = node.integers("pads");
    const Axis columns = {columns_atom(static_cast<int64_t>(at(functions_.base(rows.term)).columns))};
    // GlobalAveragePool over the columns of each row, as tf2onnx writes it.
    if (op == "GlobalAveragePool" && rows.axes.size() == 3 && rows.axes[2] == columns) {
      Axes left = rows.axes;
      left[2].clear();
      return set_term(node, rows, functions_.apply("ReduceMean", rows.term), left), true;
    }
    std::vector<size_t> gone;
    const bool padded = std::any_of(pads.begin(), pads.end(), [](int64_t v) { return v != 0; });
    if (padded || rows.axes.size() < 3 || (!all && windows.size() + 2 != rows.axes.size())) {
      refuse("is not a pool over all tokens");
    }
    for (size_t i = 2; i < rows.axes.size(); ++i) {
      if (rows.axes[i].empty() && (all || windows[i - 2] == 1)) continue;
      bool whole = is_tokens(rows.axes[i]);
      for (size_t p = 0; p < probes_.size() && whole && !all; ++p) {
        whole = windows[i - 2] == extent(rows.axes[i], extents(p));
      }
      if (!whole) {
        refuse(
            "is a pool of windows, and pools over all tokens are read (torch writes the example's length into those of "
            "max_pool1d(x, x.size(2)): write x.amax(2))");
      }
      gone.push_back(i);
    }
    if (gone.size() != 1) refuse("is not a pool over tokens");
    return read_token_pool(node, largest ? fb::PoolKind::max : fb::PoolKind::mean, gone, true), true;
  }
  return read_weighted(node);
}

/// The elementwise maximum of two rows: a + relu(b - a).
int32_t Lowering::larger(const Node& node, int32_t a, int32_t b) {
  Block minus;
  minus.inputs = {a};
  minus.columns = at(a).columns;
  minus.of_tokens = at(a).of_tokens;
  minus.stage.gamma.assign(minus.columns, -1.0F);
  const int32_t difference = sum_of(node, b, add(std::move(minus)));
  return sum_of(node, a, activated(node, difference, fb::ActivationKind::relu));
}

/// Reads rows that are stacked along a new axis, and their reduction along it: the maximum, the sum, the mean.
bool Lowering::read_stack(const Node& node) {
  const std::string& op = node.op;
  const Value& x = in(node, 0);
  if (op == "Concat" && x.kind == Value::Kind::kRows) {
    const size_t axis = axis_of(x, node.integer("axis", 0));
    if (!x.axes[axis].empty() || at(functions_.base(x.term)).columns == 1) return false;
    Value out = x;
    out.kind = Value::Kind::kStack;
    out.stack_axis = axis;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (kind(node, i) != Value::Kind::kRows || !(in(node, i).axes == x.axes)) return false;
      out.stacked.push_back(block_of(in(node, i)));
    }
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Max" && node.inputs.size() == 2 && x.kind == Value::Kind::kRows && kind(node, 1) == Value::Kind::kRows) {
    const Value& y = in(node, 1);
    if (!(x.axes == y.axes) || functions_.base(x.term) == functions_.base(y.term)) return false;
    const Axes axes = x.axes;
    return set(node, 0, rows_of(larger(node, block_of(x), block_of(y)), axes)), true;
  }
  if (x.kind != Value::Kind::kStack) return false;
  const bool largest = op == "ReduceMax", mean = op == "ReduceMean";
  const std::vector<int64_t> axes = list(node, 1, "axes");
  if ((!largest && !mean && op != "ReduceSum") || axes.size() != 1 || axis_of(x, axes[0]) != x.stack_axis) {
    refuse("does something to a stack of rows that is not a maximum, sum or mean of them");
  }
  const std::vector<int32_t> blocks = x.stacked;
  Axes left = x.axes;
  if (node.integer("keepdims", 1) == 0) left.erase(left.begin() + static_cast<std::ptrdiff_t>(x.stack_axis));
  int32_t all = blocks[0];
  for (size_t i = 1; i < blocks.size(); ++i)
    all = largest ? larger(node, all, blocks[i]) : sum_of(node, all, blocks[i]);
  Value out = rows_of(all, left);
  if (!mean) return set(node, 0, std::move(out)), true;
  const int32_t parts = functions_.scalar(static_cast<double>(blocks.size()));
  return set_term(node, out, functions_.apply("Div", out.term, parts), left), true;
}

/// Pools all tokens to one row. With a mask, padding would be included.
void Lowering::read_token_pool(const Node& node, fb::PoolKind kind, const std::vector<size_t>& gone, bool keep) {
  const Value& x = in(node, 0);
  if (has_input(InputRole::kMask)) refuse("is over tokens without their mask: those that fill up would count");
  const int64_t skip = x.axes[gone[0]][0].less;
  Axes left = x.axes;
  left[gone[0]].clear();
  if (!keep) left.erase(left.begin() + static_cast<std::ptrdiff_t>(gone[0]));
  const int32_t block = pooled(node, block_of(x), kind);
  blocks_[static_cast<size_t>(block)].skip = static_cast<uint32_t>(skip);
  set(node, 0, rows_of(block, std::move(left)));
}

/// A final softmax over columns, which is omitted because tasks compute it.
void Lowering::read_ending(const Node& node) {
  const Value& x = in(node, 0);
  const size_t axis = axis_of(x, node.integer("axis", model_.opset < 13 ? 1 : -1));
  const auto columns = static_cast<int64_t>(at(functions_.base(x.term)).columns);
  const bool rows = x.kind == Value::Kind::kRows && x.axes[axis] == Axis{columns_atom(columns)};
  if (!rows) refuse("is neither over keys, nor over tokens of one score each, nor over all columns");
  Value out = x;
  out.ending = node.op;
  set(node, 0, std::move(out));
}

/// Token weights: the softmax of one score per token.
void Lowering::read_weights(const Node& node) {
  const Value& x = in(node, 0);
  const int32_t scores = collapse(x.term);
  const size_t axis = axis_of(x, node.integer("axis", model_.opset < 13 ? 1 : -1));
  if (at(scores).columns != 1 || !at(scores).of_tokens) refuse("is over tokens of several scores each");
  if (x.axes[axis][0].less != 0) refuse("is over what a convolution without padding gave");
  if (x.kind == Value::Kind::kRows && has_input(InputRole::kMask)) {
    refuse("is over tokens without their mask: those that fill up would count");
  }
  Value out;
  out.kind = Value::Kind::kWeights;
  out.axes = x.axes;
  out.score_block = scores;
  set(node, 0, std::move(out));
}

/// Reads the uses of token weights: they are reshaped, multiplied by rows, and summed over tokens.
bool Lowering::read_weighted(const Node& node) {
  const std::string& op = node.op;
  const auto is = [&](size_t i, Value::Kind wanted) { return kind(node, i) == wanted; };
  const bool weights = is(0, Value::Kind::kWeights) || is(1, Value::Kind::kWeights);
  if (weights && (op == "Mul" || op == "MatMul")) {
    const size_t i = is(0, Value::Kind::kWeights) ? 0 : 1;
    const Value &w = in(node, i), &rows = in(node, 1 - i);
    if (rows.kind != Value::Kind::kRows || functions_.reduced(rows.term))
      refuse("multiplies weights of tokens with no rows");
    const int32_t block = block_of(rows);
    if (op == "Mul") {
      Value out = rows;
      out.kind = Value::Kind::kWeighted;
      out.axes = united(w.axes, rows.axes);
      if (out.axes.size() != rows.axes.size()) refuse("multiplies weights of tokens with rows that lie otherwise");
      out.score_block = w.score_block;
      return set(node, 0, std::move(out)), true;
    }
    // [texts, 1, tokens] times [texts, tokens, columns], or both transposed.
    const size_t rank = w.axes.size();
    const size_t along = i == 0 ? rank - 1 : rank - 2, one = i == 0 ? rank - 2 : rank - 1;
    const bool fits = rank >= 2 && rows.axes.size() == rank && w.axes[along] == Axis{kTokensAtom} &&
                      w.axes[one].empty() && rows.axes[one] == Axis{kTokensAtom} &&
                      rows.axes[along] == Axis{columns_atom(static_cast<int64_t>(at(block).columns))};
    if (!fits) refuse("multiplies weights of tokens with rows that lie otherwise");
    Axes axes = rows.axes;
    axes[one].clear();
    return set(node, 0, rows_of(weighted_sum(node, w.score_block, block), std::move(axes))), true;
  }
  if (op == "ReduceSum" && is(0, Value::Kind::kWeighted)) {
    const Value& x = in(node, 0);
    const std::vector<int64_t> axes = list(node, 1, "axes");
    const size_t axis = axes.size() == 1 ? axis_of(x, axes[0]) : x.axes.size();
    if (axis == x.axes.size() || !(x.axes[axis] == Axis{kTokensAtom}))
      refuse("sums something else than weighted tokens");
    Axes left = x.axes;
    left[axis].clear();
    if (node.integer("keepdims", 1) == 0) left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
    return set(node, 0, rows_of(weighted_sum(node, x.score_block, collapse(x.term)), std::move(left))), true;
  }
  return false;
}

/// An attention in which all queries are the same: each key's score is that of its token. Every token gets the same
/// sum; the result is the first one's.
int32_t Lowering::weighted_sum(const Node& node, int32_t scores, int32_t rows) {
  constexpr uint32_t kMostWidth = 128;  // of a head
  const uint32_t columns = at(rows).columns;
  if (!at(rows).of_tokens) refuse("multiplies weights of tokens with rows of texts");
  uint32_t width = std::min(columns, kMostWidth);
  while (columns % width != 0) --width;
  // Keys have the score in the first column of each head, queries have a 1 there.
  std::vector<double> keys(columns, 0), ones(columns, 0);
  for (uint32_t i = 0; i < columns; i += width) keys[i] = ones[i] = 1;
  const auto made = [&](std::vector<double> matrix) {
    return linear(node, scores, matrix_parameter("", 1, columns, std::move(matrix)));
  };
  Value bias;
  bias.kind = Value::Kind::kConstant;
  bias.constant.folded = std::make_shared<const HostTensor>(host_floats({columns}, std::move(ones)));
  Block block;
  block.kind = Block::Kind::kAttention;
  block.name = node.name;
  block.inputs = {biased(node, made(std::vector<double>(columns, 0)), bias), made(std::move(keys)), rows};
  block.columns = columns;
  block.heads = block.kv_heads = columns / width;
  block.head_width = width;
  return pooled(node, add(std::move(block)), fb::PoolKind::first);
}

}  // namespace bantam::convert::onnx
