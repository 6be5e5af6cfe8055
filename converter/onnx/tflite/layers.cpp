// Layers of TensorFlow Lite: products with matrices, convolutions over tokens, pools of all tokens, recurrent layers.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/tflite/translator.h"

namespace bantam::convert::tflite {
namespace {

using fl::Activation;
using fl::BuiltinOperator;
using onnx::Node;

/// Transposes the last two axes of input i.
std::string turned(Translator& to, const Operation& op, size_t i) {
  std::vector<int64_t> order;
  const size_t rank = to.tensor(op, i).dims.size() + to.leading.count(op.inputs[i]);
  if (rank < 2) throw NotTranslated{"multiplies something that is not a matrix"};
  for (size_t k = 0; k < rank; ++k) order.push_back(static_cast<int64_t>(k));
  std::swap(order[rank - 1], order[rank - 2]);
  const std::string x = to.in(op, i);
  std::string made = to.between(op);
  set(to.add(op, "Transpose", {x}, made), "perm", order);
  return made;
}

/// Writes value + bias, followed by the activation, to the output.
void with_bias(Translator& to, const Operation& op, size_t bias, Activation activation, std::string value) {
  if (to.there(op, bias)) {
    const std::string sum = activation == Activation::NONE ? to.out(op) : to.between(op);
    to.add(op, "Add", {value, to.in(op, bias)}, sum);
    value = sum;
  } else if (activation == Activation::NONE) {
    to.add(op, "Identity", {value}, to.out(op));
  }
  finish(to, op, activation, value);
}

/// The weights are [outputs, inputs].
void fully_connected(Translator& to, const Operation& op) {
  const auto* given = op.options->builtin_options_as<fl::FullyConnectedOptions>();
  if (given != nullptr && given->weights_format() != 0) throw NotTranslated{"its weights are shuffled"};
  const Tensor &x = to.tensor(op, 0), &weights = to.tensor(op, 1);
  if (weights.dims.size() != 2 || x.dims.empty()) throw NotTranslated{"its weights are not a matrix"};
  std::string rows = to.in(op, 0);
  const bool keeps = given != nullptr && given->keep_num_dims();
  if (!keeps && x.dims.size() != 2 && !to.keeps_tokens(op)) {
    const std::string flat = to.between(op);
    set(to.add(op, "Reshape", {rows}, flat), "shape", std::vector<int64_t>{-1, weights.dims[1]});
    rows = flat;
  }
  const std::string matrix = turned(to, op, 1), product = to.between(op);
  to.add(op, "MatMul", {rows, matrix}, product);
  with_bias(to, op, 2, given == nullptr ? Activation::NONE : given->fused_activation_function(), product);
  keep_leading(to, op);
}

void batch_product(Translator& to, const Operation& op) {
  const auto* given = op.options->builtin_options_as<fl::BatchMatMulOptions>();
  const std::string a = given != nullptr && given->adj_x() ? turned(to, op, 0) : to.in(op, 0);
  const std::string b = given != nullptr && given->adj_y() ? turned(to, op, 1) : to.in(op, 1);
  to.add(op, "MatMul", {a, b}, to.out(op));
  keep_leading(to, op);
}

/// Translates a one-hot encoding to a lookup in the identity matrix, so that its product with a matrix becomes a
/// lookup.
void one_hot(Translator& to, const Operation& op) {
  const auto* given = op.options->builtin_options_as<fl::OneHotOptions>();
  const std::vector<int64_t> depth = to.list(op, 1, "depth");
  const auto is = [&](size_t i, float value) { return to.numbers(op, i) == std::vector<float>{value}; };
  if (depth.size() != 1 || !is(2, 1) || !is(3, 0) || (given != nullptr && given->axis() != -1)) {
    throw NotTranslated{"has other numbers than 1 and 0 in its last axis"};
  }
  // Row i of the identity matrix.
  constexpr int64_t kMostDepth = 256;
  if (depth[0] < 1 || depth[0] > kMostDepth) throw NotTranslated{"is of more than 256 ids"};
  std::vector<float> identity(static_cast<size_t>(depth[0] * depth[0]), 0.0F);
  for (size_t i = 0; i < static_cast<size_t>(depth[0]); ++i) identity[i * static_cast<size_t>(depth[0]) + i] = 1;
  const std::string table = to.constant(to.out(op) + ".identity", {depth[0], depth[0]}, identity);
  set(to.add(op, "Gather", {table, to.in(op, 0)}, to.out(op)), "axis", 0);
}

/// The axis of extent 1 to remove from [texts, a, b, columns], which leaves rows of tokens.
size_t flat_axis(const Tensor& x, int64_t window_a, int64_t window_b) {
  if (x.dims.size() != 4) throw NotTranslated{"is not of four axes"};
  if (x.dims[1] == 1 && window_a == 1) return 1;
  if (x.dims[2] == 1 && window_b == 1) return 2;
  throw NotTranslated{"goes over an image, not over tokens"};
}

/// Filters [outputs, a, b, columns] over tokens; also over [tokens, columns] with one channel, as in Kim (arXiv
/// 1408.5882).
void convolution(Translator& to, const Operation& op) {
  const auto* given = op.options->builtin_options_as<fl::Conv2DOptions>();
  const Tensor &x = to.tensor(op, 0), &filters = to.tensor(op, 1);
  if (given == nullptr || filters.dims.size() != 4) throw NotTranslated{"its filters have not four axes"};
  const std::vector<int64_t>& f = filters.dims;
  const bool valid = given->padding() == fl::Padding::VALID;
  const bool image = x.dims.size() == 4 && x.dims[3] == 1 && x.dims[2] > 1 && f[3] == 1 && f[2] == x.dims[2] && valid;
  const size_t gone = image ? 3 : flat_axis(x, f[1], f[2]);
  if (!image && x.dims[3] != f[3]) throw NotTranslated{"has groups"};
  const size_t along = image ? 1 : 3 - gone;
  const int64_t step = along == 1 ? given->stride_h() : given->stride_w();
  const int64_t gap = along == 1 ? given->dilation_h_factor() : given->dilation_w_factor();
  if (step != 1 || gap != 1) throw NotTranslated{"has steps or gaps"};
  const int64_t window = f[along], outer = f[0];
  const std::string weights =
      to.reshaped(op, 1, {outer, static_cast<int64_t>(filters.elements) / std::max<int64_t>(outer, 1)}, 0);
  const std::string rows = to.between(op), made = to.between(op), four = to.between(op);
  set(to.add(op, "Squeeze", {to.in(op, 0)}, rows), "axes", std::vector<int64_t>{static_cast<int64_t>(gone)});
  Node& node = to.add(op, "Conv", {rows, weights}, made);
  set(node, "channels_last", 1);
  set(node, "kernel_shape", std::vector<int64_t>{window});
  const int64_t before = valid ? 0 : (window - 1) / 2;
  set(node, "pads", std::vector<int64_t>{before, valid ? 0 : window - 1 - before});
  set(to.add(op, "Unsqueeze", {made}, four), "axes", std::vector<int64_t>{image ? 2 : static_cast<int64_t>(gone)});
  with_bias(to, op, 2, given->fused_activation_function(), four);
}

/// Translates a pool over one window that holds all tokens.
void pool(Translator& to, const Operation& op) {
  const auto* given = op.options->builtin_options_as<fl::Pool2DOptions>();
  const Tensor& x = to.tensor(op, 0);
  if (given == nullptr) throw NotTranslated{"has no window"};
  const size_t gone = flat_axis(x, given->filter_height(), given->filter_width()), along = 3 - gone;
  const int64_t window = along == 1 ? given->filter_height() : given->filter_width();
  if (window != x.dims[along] || given->padding() != fl::Padding::VALID) {
    throw NotTranslated{"pools windows of tokens, not all of them"};
  }
  const std::string value = given->fused_activation_function() == Activation::NONE ? to.out(op) : to.between(op);
  Node& node = to.add(op, op.code == BuiltinOperator::MAX_POOL_2D ? "ReduceMax" : "ReduceMean", {to.in(op, 0)}, value);
  set(node, "axes", std::vector<int64_t>{static_cast<int64_t>(along)});
  finish(to, op, given->fused_activation_function(), value);
}

/// Inputs 1-4 and 5-8 are the weights of rows and of states, inputs 12-15 the biases, each for the gates input, forget,
/// cell, output. ONNX uses the order input, output, forget, cell.
void lstm(Translator& to, const Operation& op) {
  const auto* given = op.options->builtin_options_as<fl::UnidirectionalSequenceLSTMOptions>();
  if (given == nullptr || given->fused_activation_function() != Activation::TANH) {
    throw NotTranslated{"its activation is not tanh"};
  }
  for (size_t i = 9; i < op.inputs.size(); ++i) {
    const bool other = i < 12 || i == 16 || i == 17 || i > 19;
    if (other && to.there(op, i)) throw NotTranslated{"has peepholes, a projection or norms"};
  }
  for (const size_t i : {size_t{18}, size_t{19}}) {
    if (!to.there(op, i)) continue;
    const bool zero = to.tensor(op, i).variable && !to.tensor(op, i).constant;
    const std::vector<float> begin = zero ? std::vector<float>{} : to.numbers(op, i);
    if (std::any_of(begin.begin(), begin.end(), [](float v) { return v != 0; })) {
      throw NotTranslated{"begins with states that are not 0"};
    }
  }
  const Tensor& states = to.tensor(op, 5 + 1);
  if (states.dims.size() != 2 || states.dims[0] != states.dims[1])
    throw NotTranslated{"its states are not a square matrix"};
  const int64_t cells = states.dims[0];
  const auto together = [&](size_t first) {
    std::vector<float> all;
    for (const size_t gate : {size_t{0}, size_t{3}, size_t{1}, size_t{2}}) {
      const std::vector<float> one = to.numbers(op, first + gate);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  Recurrence made;
  made.cells = cells;
  made.time_major = given->time_major();
  made.rows = together(1);
  made.states = together(5);
  made.biases = together(12);
  if (static_cast<int64_t>(made.biases.size()) != 4 * cells) throw NotTranslated{"its biases do not fit"};
  made.biases.resize(made.biases.size() * 2, 0.0F);  // biases of the states
  made.all = 0;
  add_recurrence(to, op, made);
  if (given->cell_clip() > 0) {
    to.note(fmt::format(
        "cells of LSTMs are not kept within {}, as the file says: no text gets there that models are made for",
        given->cell_clip()));
  }
}

}  // namespace

std::string add_recurrence(Translator& to, const Operation& op, const Recurrence& recurrence) {
  const std::string& base = op.outputs.empty() ? op.called : to.out(op, recurrence.all.value_or(0));
  const int64_t of_tokens = recurrence.time_major ? 0 : 1;
  const int64_t gates = static_cast<int64_t>(recurrence.biases.size()) / std::max<int64_t>(2 * recurrence.cells, 1);
  const int64_t columns = gates * recurrence.cells;
  const auto width = static_cast<int64_t>(recurrence.rows.size()) / std::max<int64_t>(columns, 1);
  const auto backwards = to.reversed.find(op.inputs[recurrence.x]);
  const bool reverse = backwards != to.reversed.end();
  const std::string x = reverse ? backwards->second : to.in(op, recurrence.x);
  const std::string w = to.constant(base + ".weight", {1, columns, width}, recurrence.rows);
  const std::string r = to.constant(base + ".states", {1, columns, recurrence.cells}, recurrence.states);
  const std::string b = to.constant(base + ".bias", {1, 2 * columns}, recurrence.biases);
  const std::string all = to.between(op), last = to.between(op);
  Node& node = to.add(op, recurrence.op, {x, w, r, b}, all);
  node.outputs.push_back(last);
  set(node, "hidden_size", recurrence.cells);
  set(node, "layout", of_tokens);
  set(node, "linear_before_reset", 1);
  node.attributes["direction"].s = reverse ? "reverse" : "forward";
  std::string state = to.between(op);
  set(to.add(op, "Squeeze", {last}, state), "axes", std::vector<int64_t>{of_tokens});
  if (!recurrence.all) return state;
  const int32_t output = op.outputs[*recurrence.all];
  std::string rows = to.out(op, *recurrence.all);
  if (reverse) {
    rows = to.between(op);
    to.reversed[output] = rows;
    to.add(op, "ReverseV2", {rows}, to.out(op, *recurrence.all)).unread =
        "its tokens run backwards for something else than to be turned round";
  }
  set(to.add(op, "Squeeze", {all}, rows), "axes", std::vector<int64_t>{of_tokens == 1 ? 2 : 1});
  to.last_states[output] = state;
  return state;
}

bool translate_layer(Translator& to, const Operation& op) {
  switch (op.code) {
    case BuiltinOperator::FULLY_CONNECTED:
      return fully_connected(to, op), true;
    case BuiltinOperator::BATCH_MATMUL:
      return batch_product(to, op), true;
    case BuiltinOperator::ONE_HOT:
      return one_hot(to, op), true;
    case BuiltinOperator::CONV_2D:
      return convolution(to, op), true;
    case BuiltinOperator::MAX_POOL_2D:
    case BuiltinOperator::AVERAGE_POOL_2D:
      return pool(to, op), true;
    case BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM:
      return lstm(to, op), true;
    case BuiltinOperator::WHILE:
      return loop(to, op), true;
    default:
      return false;
  }
}

}  // namespace bantam::convert::tflite
