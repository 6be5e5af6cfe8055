// Operators of TensorFlow Lite, except for layers. Definitions: https://ai.google.dev/edge/litert,
// tensorflow/lite/kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/tflite/translator.h"

namespace bantam::convert::tflite {
namespace {

using fl::Activation;
using fl::BuiltinOperator;
using onnx::Node;

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

size_t axis_of(const Tensor& tensor, int64_t axis) {
  const auto rank = static_cast<int64_t>(tensor.dims.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) throw NotTranslated{"its axis does not exist"};
  return static_cast<size_t>(axis);
}

/// The operator's options; defaults of schemas/tflite.fbs where the file omits them.
template <typename Options>
const Options* options(const Operation& op) {
  return op.options->builtin_options_as<Options>();
}

template <typename Options>
Activation fused(const Operation& op) {
  const Options* found = options<Options>(op);
  return found == nullptr ? Activation::NONE : found->fused_activation_function();
}

/// Position rows [tokens, columns] that the file adds as a constant with one row per token.
std::optional<std::string> places(Translator& to, const Operation& op, size_t constant, size_t rows) {
  const Tensor &table = to.tensor(op, constant), &x = to.tensor(op, rows);
  const size_t rank = table.dims.size();
  if (!table.constant || x.constant || rank < 2 || to.fixed_tokens() == 0) return std::nullopt;
  if (x.dims.size() != 3 && x.dims.size() != 2) return std::nullopt;
  const int64_t tokens = table.dims[rank - 2], columns = table.dims[rank - 1];
  const bool fits = table.elements == static_cast<uint64_t>(tokens * columns) && tokens == to.fixed_tokens() &&
                    tokens == x.dims[x.dims.size() - 2] && columns == x.dims.back() && tokens != 1;
  if (!fits) return std::nullopt;
  const auto axis = static_cast<int64_t>(table.axis) - static_cast<int64_t>(rank - 2);
  const std::string flat = to.reshaped(op, constant, {tokens, columns}, table.scales.size() > 1 ? axis : table.axis);
  const std::string count = to.tokens(op), made = to.between(op);
  Node& node = to.add(op, "Slice", {flat, "", count}, made);
  set(node, "starts", std::vector<int64_t>{0});
  set(node, "axes", std::vector<int64_t>{0});
  return made;
}

void pair(Translator& to, const Operation& op, const char* name, Activation activation) {
  std::string a = to.in(op, 0), b = to.in(op, 1);
  if (op.code == BuiltinOperator::ADD) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
      if (const auto table = places(to, op, i, 1 - i)) (i == 0 ? a : b) = *table;
    }
  }
  const std::string value = activation == Activation::NONE ? to.out(op) : to.between(op);
  to.add(op, name, {a, b}, value);
  finish(to, op, activation, value);
  keep_leading(to, op);
}

void single(Translator& to, const Operation& op, const char* name) { to.add(op, name, {to.in(op, 0)}, to.out(op)); }

void softmax(Translator& to, const Operation& op) {
  if (to.is_ending(op)) return single(to, op, "Identity");
  const auto* given = options<fl::SoftmaxOptions>(op);
  if (op.code == BuiltinOperator::SOFTMAX && given != nullptr && given->beta() != 1)
    throw NotTranslated{"its beta is not 1"};
  if (op.code != BuiltinOperator::SOFTMAX) throw NotTranslated{"stands elsewhere than at an output"};
  set(to.add(op, "Softmax", {to.in(op, 0)}, to.out(op)), "axis", -1);
  keep_leading(to, op);
}

void clip(Translator& to, const Operation& op, const std::string& x, float low, float high, const std::string& out) {
  to.add(op, "Clip", {x, to.constant(out + ".low", {}, {low}), to.constant(out + ".high", {}, {high})}, out);
}

void reduce(Translator& to, const Operation& op, const char* name) {
  const auto* given = options<fl::ReducerOptions>(op);
  Node& node = to.add(op, name, {to.in(op, 0)}, to.out(op));
  set(node, "keepdims", given != nullptr && given->keep_dims() ? 1 : 0);
  std::vector<int64_t> axes;
  for (const int64_t axis : to.list(op, 1, "axes"))
    axes.push_back(static_cast<int64_t>(axis_of(to.tensor(op, 0), axis)));
  set(node, "axes", axes);
}

/// Returns true for a reshape that swaps texts and tokens, one of which has extent 1; converters write transposes in
/// this way.
bool exchanges(const Tensor& x, const Tensor& made) {
  const std::vector<int64_t>&a = x.dims, &b = made.dims;
  return a.size() == 3 && b.size() == 3 && a[0] == b[1] && a[1] == b[0] && a[2] == b[2] && a[0] != a[1] &&
         (a[0] == 1 || a[1] == 1);
}

void exchange(Translator& to, const Operation& op) {
  const std::vector<int64_t> order = {1, 0, 2};
  set(to.add(op, "Transpose", {to.in(op, 0)}, to.out(op)), "perm", order);
  const auto forwards = to.reversed.find(op.inputs[0]);
  if (forwards == to.reversed.end()) return;
  const std::string turned = to.between(op);
  set(to.add(op, "Transpose", {forwards->second}, turned), "perm", order);
  to.reversed[op.outputs[0]] = turned;
}

/// Handles a reshape that removes or restores the batch axis of one text, which the value keeps throughout. Returns
/// false for any other reshape.
bool keeps_texts(Translator& to, const Operation& op) {
  const std::vector<int64_t>&x = to.tensor(op, 0).dims, &made = to.made(op).dims;
  const int64_t tokens = to.fixed_tokens();
  const auto with_texts = [](std::vector<int64_t> dims) {
    dims.insert(dims.begin(), 1);
    return dims;
  };
  if (to.leading.count(op.inputs[0]) != 0) {
    if (made != with_texts(x)) return false;
    single(to, op, "Identity");
    return true;
  }
  const bool heads = x.size() == 4 && x[1] != 1, ids = x.size() == 2 && x[1] == tokens && tokens > 1;
  const bool dropped = x == with_texts(made) && (heads || ids);
  const bool joined =
      x.size() == 4 && x[0] == 1 && x[1] == tokens && tokens > 1 && made.size() == 2 && made[0] == tokens;
  if ((!dropped && !joined) || !to.spreads(op)) return false;
  if (dropped) {
    single(to, op, "Identity");
  } else {
    set(to.add(op, "Reshape", {to.in(op, 0)}, to.out(op)), "shape", with_texts(made));
  }
  to.leading.insert(op.outputs[0]);
  return true;
}

void reshape(Translator& to, const Operation& op) {
  if (exchanges(to.tensor(op, 0), to.made(op))) return exchange(to, op);
  if (keeps_texts(to, op)) return;
  const std::string x = to.in(op, 0);
  if (to.there(op, 1)) {
    if (const auto shape = to.integers(op, 1)) {
      set(to.add(op, "Reshape", {x}, to.out(op)), "shape", *shape);
    } else {
      to.add(op, "Reshape", {x, to.in(op, 1)}, to.out(op));
    }
    return;
  }
  const auto* given = options<fl::ReshapeOptions>(op);
  std::vector<int64_t> shape = to.made(op).dims;
  if (given != nullptr && given->new_shape() != nullptr)
    shape.assign(given->new_shape()->begin(), given->new_shape()->end());
  set(to.add(op, "Reshape", {x}, to.out(op)), "shape", shape);
}

void squeeze(Translator& to, const Operation& op) {
  const auto* given = options<fl::SqueezeOptions>(op);
  const Tensor& x = to.tensor(op, 0);
  std::vector<int64_t> axes;
  if (given != nullptr && given->squeeze_dims() != nullptr) {
    for (const int32_t axis : *given->squeeze_dims()) axes.push_back(static_cast<int64_t>(axis_of(x, axis)));
  }
  for (size_t i = 0; i < x.dims.size() && axes.empty(); ++i) {
    if (x.ports[i] == 1) axes.push_back(static_cast<int64_t>(i));
  }
  set(to.add(op, "Squeeze", {to.in(op, 0)}, to.out(op)), "axes", axes);
}

void expand(Translator& to, const Operation& op) {
  set(to.add(op, "Unsqueeze", {to.in(op, 0)}, to.out(op)), "axes", to.list(op, 1, "axis"));
}

void transpose(Translator& to, const Operation& op) {
  set(to.add(op, "Transpose", {to.in(op, 0)}, to.out(op)), "perm", to.list(op, 1, "order of axes"));
}

void gather(Translator& to, const Operation& op, size_t table, size_t ids) {
  const auto* given = options<fl::GatherOptions>(op);
  if (given != nullptr && given->batch_dims() != 0) throw NotTranslated{"looks up each text in rows of its own"};
  Node& node = to.add(op, "Gather", {to.in(op, table), to.in(op, ids)}, to.out(op));
  set(node, "axis", given == nullptr || op.code != BuiltinOperator::GATHER ? 0 : given->axis());
  if (op.code == BuiltinOperator::EMBEDDING_LOOKUP) keep_leading(to, op);
}

/// A gather of all elements in their order, with additional axes of extent 1, as written for mask indices of PyTorch.
void gather_elements(Translator& to, const Operation& op) {
  const Tensor &x = to.tensor(op, 0), &made = to.made(op);
  const std::vector<int64_t> places = to.list(op, 1, "places");
  const size_t rank = x.dims.size();
  bool all = rank != 0 && places.size() == x.elements * rank && made.elements == x.elements;
  for (size_t i = 0; all && i < x.elements; ++i) {
    uint64_t at = 0;
    for (size_t d = 0; d < rank; ++d)
      at = at * static_cast<uint64_t>(x.dims[d]) + static_cast<uint64_t>(places[i * rank + d]);
    all = at == i;
  }
  std::vector<int64_t> added;
  size_t next = 0;
  for (size_t d = 0; all && d < made.dims.size(); ++d) {
    // If there are several axes of extent 1, the first ones are the input's.
    if (next < rank && made.dims[d] == x.dims[next]) {
      ++next;
    } else {
      all = made.dims[d] == 1;
      added.push_back(static_cast<int64_t>(d));
    }
  }
  if (!all || next != rank) throw NotTranslated{"picks single elements"};
  set(to.add(op, "Unsqueeze", {to.in(op, 0)}, to.out(op)), "axes", added);
}

/// An AND with a constant that is true everywhere returns its other input.
void both(Translator& to, const Operation& op) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Tensor& given = to.tensor(op, i);
    const bool truths = given.constant && given.type == onnx::Type::boolean &&
                        std::all_of(given.bytes.begin(), given.bytes.end(), [](char c) { return c != 0; });
    if (!truths) continue;
    to.add(op, "Identity", {to.in(op, 1 - i)}, to.out(op));
    return;
  }
  to.add(op, "And", {to.in(op, 0), to.in(op, 1)}, to.out(op));
}

void join(Translator& to, const Operation& op) {
  const auto* given = options<fl::ConcatenationOptions>(op);
  const Activation activation = fused<fl::ConcatenationOptions>(op);
  std::vector<std::string> parts;
  for (size_t i = 0; i < op.inputs.size(); ++i) parts.push_back(to.in(op, i));
  const std::string value = activation == Activation::NONE ? to.out(op) : to.between(op);
  set(to.add(op, "Concat", parts, value), "axis", given == nullptr ? 0 : given->axis());
  finish(to, op, activation, value);
}

void pack(Translator& to, const Operation& op) {
  const auto* given = options<fl::PackOptions>(op);
  const int64_t axis = given == nullptr ? 0 : given->axis();
  std::vector<std::string> parts;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    parts.push_back(to.between(op));
    set(to.add(op, "Unsqueeze", {to.in(op, i)}, parts.back()), "axes", std::vector<int64_t>{axis});
  }
  set(to.add(op, "Concat", parts, to.out(op)), "axis", axis);
}

void split(Translator& to, const Operation& op, size_t x, size_t axis) {
  const std::vector<int64_t> of = to.list(op, axis, "axis");
  if (of.size() != 1) throw NotTranslated{"has several axes"};
  Node& node = to.add(op, "Split", {to.in(op, x)}, to.out(op));
  set(node, "axis", of[0]);
  if (op.code == BuiltinOperator::SPLIT_V) set(node, "split", to.list(op, 1, "sizes"));
  for (size_t i = 1; i < op.outputs.size(); ++i) node.outputs.push_back(to.out(op, i));
}

void unpack(Translator& to, const Operation& op) {
  const auto* given = options<fl::UnpackOptions>(op);
  const int64_t axis = given == nullptr ? 0 : given->axis();
  std::vector<std::string> parts;
  for (size_t i = 0; i < op.outputs.size(); ++i) parts.push_back(to.between(op));
  Node& node = to.add(op, "Split", {to.in(op, 0)}, parts.empty() ? "" : parts[0]);
  set(node, "axis", axis);
  node.outputs = parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    set(to.add(op, "Squeeze", {parts[i]}, to.out(op, i)), "axes", std::vector<int64_t>{axis});
  }
}

/// A slice with computed begins and sizes, which occurs in loops; those are run.
void computed_slice(Translator& to, const Operation& op) {
  const std::string begin = to.in(op, 1), size = to.in(op, 2);
  const std::string sum = to.between(op), open = to.between(op), end = to.between(op);
  to.add(op, "Add", {begin, size}, sum);
  to.add(op, "Less", {size, to.constant(sum + ".none", {int64_t{0}})}, open);
  to.add(op, "Where", {open, to.constant(sum + ".end", {kToTheEnd}), sum}, end);
  to.add(op, "Slice", {to.in(op, 0), begin, end}, to.out(op));
}

void slice(Translator& to, const Operation& op) {
  if (!to.integers(op, 1) || !to.integers(op, 2)) return computed_slice(to, op);
  const std::vector<int64_t> begins = to.list(op, 1, "places"), sizes = to.list(op, 2, "sizes");
  if (begins.size() != sizes.size()) throw NotTranslated{"its places and sizes do not go together"};
  std::vector<int64_t> starts, ends, axes;
  const std::vector<int64_t>& dims = to.tensor(op, 0).dims;
  for (size_t i = 0; i < begins.size(); ++i) {
    const bool whole = sizes[i] < 0 || (i < dims.size() && begins[i] + sizes[i] == dims[i]);
    if (whole && begins[i] == 0) continue;
    // All tokens but the last, also for shorter texts.
    const bool but_last =
        i == 1 && dims.size() == 3 && dims[1] == to.fixed_tokens() && begins[1] + sizes[1] == dims[1] - 1;
    starts.push_back(begins[i]);
    ends.push_back(whole ? kToTheEnd : but_last ? -1 : begins[i] + sizes[i]);
    axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return single(to, op, "Identity");
  Node& node = to.add(op, "Slice", {to.in(op, 0)}, to.out(op));
  set(node, "starts", starts);
  set(node, "ends", ends);
  set(node, "axes", axes);
}

/// A slice of one token of x: the state after the last token, if a recurrent layer computed x.
bool last_state(Translator& to, const Operation& op, const std::vector<int64_t>& begins,
                const std::vector<bool>& dropped) {
  const auto state = to.last_states.find(op.inputs[0]);
  const Tensor& x = to.tensor(op, 0);
  if (state == to.last_states.end() || x.dims.size() != 3) return false;
  for (const size_t axis : {size_t{0}, size_t{1}}) {
    const int64_t count = x.dims[axis];
    const bool last = begins[axis] == -1 || begins[axis] == count - 1;
    if (count == 1 || !last || !dropped[axis] || dropped[1 - axis] || dropped[2]) continue;
    to.add(op, "Identity", {state->second}, to.out(op));
    return true;
  }
  return false;
}

void strided_slice(Translator& to, const Operation& op) {
  const auto* given = options<fl::StridedSliceOptions>(op);
  const Tensor& x = to.tensor(op, 0);
  const std::vector<int64_t> begins = to.list(op, 1, "places"), given_ends = to.list(op, 2, "ends"),
                             steps = to.list(op, 3, "steps");
  const auto bit = [&](int32_t mask, size_t i) { return i < 31 && (mask >> i & 1) != 0; };
  if (given == nullptr || begins.size() != given_ends.size() || begins.size() != steps.size()) {
    throw NotTranslated{"its places, ends and steps do not go together"};
  }
  if (given->ellipsis_mask() != 0 || given->offset()) throw NotTranslated{"has an ellipsis, or sizes for ends"};
  std::vector<int64_t> axes, added, gone, starts, ends, by;
  std::vector<bool> dropped(x.dims.size(), false);
  std::vector<int64_t> first(x.dims.size(), 0);
  int64_t axis = 0, made = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    if (bit(given->new_axis_mask(), i)) {
      added.push_back(made++);
      continue;
    }
    if (axis >= static_cast<int64_t>(x.dims.size())) throw NotTranslated{"cuts more axes than there are"};
    const bool one = bit(given->shrink_axis_mask(), i), back = steps[i] < 0;
    const int64_t begin = !one && bit(given->begin_mask(), i) ? (back ? -1 : 0) : begins[i];
    const bool open = !one && bit(given->end_mask(), i);
    starts.push_back(begin);
    ends.push_back(one    ? (begin == -1 ? kToTheEnd : begin + 1)
                   : open ? (back ? -kToTheEnd : kToTheEnd)
                          : given_ends[i]);
    by.push_back(one ? 1 : steps[i]);
    axes.push_back(axis);
    first[static_cast<size_t>(axis)] = begin;
    dropped[static_cast<size_t>(axis)] = one;
    if (one) {
      gone.push_back(axis);
    } else {
      ++made;
    }
    ++axis;
  }
  if (added.empty() && last_state(to, op, first, dropped)) return;
  std::string value = to.in(op, 0);
  const auto next = [&](bool last) { return last ? to.out(op) : to.between(op); };
  {
    const std::string cut = next(gone.empty() && added.empty());
    Node& node = to.add(op, "Slice", {value}, cut);
    set(node, "starts", starts);
    set(node, "ends", ends);
    set(node, "axes", axes);
    set(node, "steps", by);
    value = cut;
  }
  if (!gone.empty()) {
    const std::string squeezed = next(added.empty());
    set(to.add(op, "Squeeze", {value}, squeezed), "axes", gone);
    value = squeezed;
  }
  if (!added.empty()) set(to.add(op, "Unsqueeze", {value}, to.out(op)), "axes", added);
}

void pad(Translator& to, const Operation& op) {
  const std::vector<int64_t> sides = to.list(op, 1, "padding");
  const size_t rank = to.tensor(op, 0).dims.size();
  if (sides.size() != 2 * rank) throw NotTranslated{"its padding does not fit"};
  std::vector<int64_t> pads(sides.size());
  for (size_t i = 0; i < rank; ++i) {
    pads[i] = sides[2 * i];
    pads[rank + i] = sides[2 * i + 1];
  }
  std::vector<std::string> inputs = {to.in(op, 0)};
  if (op.code == BuiltinOperator::PADV2) inputs.insert(inputs.end(), {"", to.in(op, 2)});
  set(to.add(op, "Pad", inputs, to.out(op)), "pads", pads);
}

void cast(Translator& to, const Operation& op) {
  set(to.add(op, "Cast", {to.in(op, 0)}, to.out(op)), "to", static_cast<int64_t>(to.made(op).type));
}

void shape(Translator& to, const Operation& op) { to.add(op, "Shape", {to.in(op, 0)}, to.out(op)); }

void fill(Translator& to, const Operation& op) { to.add(op, "Expand", {to.in(op, 1), to.in(op, 0)}, to.out(op)); }

void squared_difference(Translator& to, const Operation& op) {
  const std::string difference = to.between(op);
  to.add(op, "Sub", {to.in(op, 0), to.in(op, 1)}, difference);
  to.add(op, "Mul", {difference, difference}, to.out(op));
}

void inverse_root(Translator& to, const Operation& op) {
  const std::string root = to.between(op);
  to.add(op, "Sqrt", {to.in(op, 0)}, root);
  to.add(op, "Reciprocal", {root}, to.out(op));
}

void not_equal(Translator& to, const Operation& op) {
  const std::string equal = to.between(op);
  to.add(op, "Equal", {to.in(op, 0), to.in(op, 1)}, equal);
  to.add(op, "Not", {equal}, to.out(op));
}

void sum(Translator& to, const Operation& op) {
  std::string all = to.in(op, 0);
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    const std::string next = i + 1 == op.inputs.size() ? to.out(op) : to.between(op);
    to.add(op, "Add", {all, to.in(op, i)}, next);
    all = next;
  }
  if (op.inputs.size() == 1) to.add(op, "Identity", {all}, to.out(op));
}

void gelu(Translator& to, const Operation& op) {
  const auto* given = options<fl::GeluOptions>(op);
  Node& node = to.add(op, "Gelu", {to.in(op, 0)}, to.out(op));
  node.attributes["approximate"].s = given != nullptr && given->approximate() ? "tanh" : "none";
}

void reversed(Translator& to, const Operation& op) {
  const std::vector<int64_t> axes = to.list(op, 1, "axes");
  const Tensor& rows = to.tensor(op, 0);
  const size_t axis = axes.size() == 1 ? axis_of(rows, axes[0]) : rows.dims.size();
  if (axis > 1 || rows.dims.size() != 3) throw NotTranslated{"turns round something else than tokens"};
  const auto forwards = to.reversed.find(op.inputs[0]);
  if (forwards != to.reversed.end()) {
    to.add(op, "Identity", {forwards->second}, to.out(op));
    return;
  }
  // A recurrent layer that reads these rows runs in reverse; no other operator may read them.
  const std::string x = to.in(op, 0);
  Node& node = to.add(op, "ReverseV2", {x}, to.out(op));
  node.unread = "turns tokens round for something else than a recurrent layer";
  to.reversed[op.outputs[0]] = x;
}

using Function = void (*)(Translator&, const Operation&);

struct Row {
  const char* name;
  Function function;
};

/// Operators that translate to one node with the same inputs, and functions for the others.
const std::map<BuiltinOperator, Row>& rows() {
  static const std::map<BuiltinOperator, Row> kRows = {
      {BuiltinOperator::ADD, {"Add", [](auto& to, auto& op) { pair(to, op, "Add", fused<fl::AddOptions>(op)); }}},
      {BuiltinOperator::SUB, {"Sub", [](auto& to, auto& op) { pair(to, op, "Sub", fused<fl::SubOptions>(op)); }}},
      {BuiltinOperator::MUL, {"Mul", [](auto& to, auto& op) { pair(to, op, "Mul", fused<fl::MulOptions>(op)); }}},
      {BuiltinOperator::DIV, {"Div", [](auto& to, auto& op) { pair(to, op, "Div", fused<fl::DivOptions>(op)); }}},
      {BuiltinOperator::POW, {"Pow", nullptr}},
      {BuiltinOperator::MAXIMUM, {"Max", nullptr}},
      {BuiltinOperator::MINIMUM, {"Min", nullptr}},
      {BuiltinOperator::FLOOR_MOD, {"Mod", nullptr}},
      {BuiltinOperator::LESS, {"Less", nullptr}},
      {BuiltinOperator::LESS_EQUAL, {"LessOrEqual", nullptr}},
      {BuiltinOperator::GREATER, {"Greater", nullptr}},
      {BuiltinOperator::GREATER_EQUAL, {"GreaterOrEqual", nullptr}},
      {BuiltinOperator::EQUAL, {"Equal", nullptr}},
      {BuiltinOperator::NOT_EQUAL, {"", not_equal}},
      {BuiltinOperator::LOGICAL_AND, {"", both}},
      {BuiltinOperator::LOGICAL_OR, {"Or", nullptr}},
      {BuiltinOperator::LOGICAL_NOT, {"Not", nullptr}},
      {BuiltinOperator::SELECT, {"Where", nullptr}},
      {BuiltinOperator::SELECT_V2, {"Where", nullptr}},
      {BuiltinOperator::ABS, {"Abs", nullptr}},
      {BuiltinOperator::NEG, {"Neg", nullptr}},
      {BuiltinOperator::EXP, {"Exp", nullptr}},
      {BuiltinOperator::LOG, {"Log", nullptr}},
      {BuiltinOperator::SQRT, {"Sqrt", nullptr}},
      {BuiltinOperator::RSQRT, {"", inverse_root}},
      {BuiltinOperator::FLOOR, {"Floor", nullptr}},
      {BuiltinOperator::CEIL, {"Ceil", nullptr}},
      {BuiltinOperator::ROUND, {"Round", nullptr}},
      {BuiltinOperator::SIGN, {"Sign", nullptr}},
      {BuiltinOperator::SIN, {"Sin", nullptr}},
      {BuiltinOperator::COS, {"Cos", nullptr}},
      {BuiltinOperator::TANH, {"Tanh", nullptr}},
      {BuiltinOperator::RELU, {"Relu", nullptr}},
      {BuiltinOperator::LOGISTIC,
       {"", [](auto& to, auto& op) { single(to, op, to.is_ending(op) ? "Identity" : "Sigmoid"); }}},
      {BuiltinOperator::RELU6, {"", [](auto& to, auto& op) { clip(to, op, to.in(op, 0), 0, 6, to.out(op)); }}},
      {BuiltinOperator::RELU_N1_TO_1, {"", [](auto& to, auto& op) { clip(to, op, to.in(op, 0), -1, 1, to.out(op)); }}},
      {BuiltinOperator::RELU_0_TO_1, {"", [](auto& to, auto& op) { clip(to, op, to.in(op, 0), 0, 1, to.out(op)); }}},
      {BuiltinOperator::GELU, {"", gelu}},
      {BuiltinOperator::SOFTMAX, {"", softmax}},
      {BuiltinOperator::LOG_SOFTMAX, {"", softmax}},
      {BuiltinOperator::SQUARE,
       {"",
        [](auto& to, auto& op) {
          to.add(op, "Mul", {to.in(op, 0), to.in(op, 0)}, to.out(op));
        }}},
      {BuiltinOperator::SQUARED_DIFFERENCE, {"", squared_difference}},
      {BuiltinOperator::ADD_N, {"", sum}},
      {BuiltinOperator::MEAN, {"", [](auto& to, auto& op) { reduce(to, op, "ReduceMean"); }}},
      {BuiltinOperator::SUM, {"", [](auto& to, auto& op) { reduce(to, op, "ReduceSum"); }}},
      {BuiltinOperator::REDUCE_MAX, {"", [](auto& to, auto& op) { reduce(to, op, "ReduceMax"); }}},
      {BuiltinOperator::REDUCE_MIN, {"", [](auto& to, auto& op) { reduce(to, op, "ReduceMin"); }}},
      {BuiltinOperator::REDUCE_PROD, {"", [](auto& to, auto& op) { reduce(to, op, "ReduceProd"); }}},
      {BuiltinOperator::L2_NORMALIZATION,
       {"", [](auto& to, auto& op) { set(to.add(op, "LpNormalization", {to.in(op, 0)}, to.out(op)), "axis", -1); }}},
      {BuiltinOperator::RESHAPE, {"", reshape}},
      {BuiltinOperator::SQUEEZE, {"", squeeze}},
      {BuiltinOperator::EXPAND_DIMS, {"", expand}},
      {BuiltinOperator::TRANSPOSE, {"", transpose}},
      {BuiltinOperator::GATHER, {"", [](auto& to, auto& op) { gather(to, op, 0, 1); }}},
      {BuiltinOperator::EMBEDDING_LOOKUP, {"", [](auto& to, auto& op) { gather(to, op, 1, 0); }}},
      {BuiltinOperator::GATHER_ND, {"", gather_elements}},
      {BuiltinOperator::CONCATENATION, {"", join}},
      {BuiltinOperator::PACK, {"", pack}},
      {BuiltinOperator::UNPACK, {"", unpack}},
      {BuiltinOperator::SPLIT, {"", [](auto& to, auto& op) { split(to, op, 1, 0); }}},
      {BuiltinOperator::SPLIT_V, {"", [](auto& to, auto& op) { split(to, op, 0, 2); }}},
      {BuiltinOperator::SLICE, {"", slice}},
      {BuiltinOperator::STRIDED_SLICE, {"", strided_slice}},
      {BuiltinOperator::PAD, {"", pad}},
      {BuiltinOperator::PADV2, {"", pad}},
      {BuiltinOperator::CAST, {"", cast}},
      {BuiltinOperator::SHAPE, {"", shape}},
      {BuiltinOperator::FILL, {"", fill}},
      {BuiltinOperator::RANGE, {"Range", nullptr}},
      {BuiltinOperator::TILE, {"Tile", nullptr}},
      {BuiltinOperator::BROADCAST_TO, {"Expand", nullptr}},
      {BuiltinOperator::REVERSE_V2, {"", reversed}},
      {BuiltinOperator::QUANTIZE, {"", [](auto& to, auto& op) { single(to, op, "Identity"); }}},
      {BuiltinOperator::DEQUANTIZE, {"", [](auto& to, auto& op) { single(to, op, "Identity"); }}},
  };
  return kRows;
}

}  // namespace

void keep_leading(Translator& to, const Operation& op) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const bool kept = to.there(op, i) && to.leading.count(op.inputs[i]) != 0;
    const bool looks_up = op.code == BuiltinOperator::EMBEDDING_LOOKUP;
    if (!kept || to.made(op).dims.size() != to.tensor(op, i).dims.size() + (looks_up ? 1 : 0)) continue;
    if (!to.spreads(op)) throw NotTranslated{"drops the axis of texts for something else than rows of tokens"};
    to.leading.insert(op.outputs[0]);
  }
}

void finish(Translator& to, const Operation& op, Activation activation, const std::string& value) {
  switch (activation) {
    case Activation::NONE:
      return;
    case Activation::RELU:
      to.add(op, "Relu", {value}, to.out(op));
      return;
    case Activation::TANH:
      to.add(op, "Tanh", {value}, to.out(op));
      return;
    case Activation::RELU6:
      return clip(to, op, value, 0, 6, to.out(op));
    case Activation::RELU_N1_TO_1:
      return clip(to, op, value, -1, 1, to.out(op));
    default:
      throw NotTranslated{"its activation is not known"};
  }
}

void translate(Translator& to, const Operation& op) {
  if (translate_layer(to, op)) return;
  const auto row = rows().find(op.code);
  if (row == rows().end()) throw NotTranslated{"is not read here"};
  if (row->second.function != nullptr) return row->second.function(to, op);
  std::vector<std::string> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i) inputs.push_back(to.in(op, i));
  to.add(op, row->second.name, std::move(inputs), to.out(op));
}

}  // namespace bantam::convert::tflite
