// Convolutions over the tokens of texts: each token is concatenated with its neighbors and multiplied by a matrix.
#include <algorithm>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {

/// A convolution with its bias, and the activation of a fused one.
void Lowering::read_convolution(const Node& node) {
  Value out = convolved(node, in(node, 0), in(node, 1).constant);
  if (there(node, 2)) out = rows_of(biased(node, block_of(out), in(node, 2)), out.axes);
  set(node, 0, std::move(out));
  if (node.op == "FusedConv") read_activation(node);
}

namespace {

/// The values of an attribute, one per spatial axis.
std::vector<int64_t> each(const Node& node, const char* name, size_t count, int64_t otherwise) {
  const std::vector<int64_t> values = node.integers(name);
  return values.empty() ? std::vector<int64_t>(count, otherwise) : values;
}

}  // namespace

/// Checks the axes that filters slide over: tokens, besides axes of extent 1. The columns must be either channels or
/// one whole axis.
Lowering::Filters Lowering::filters_of(const Node& node, const Value& x, const Parameter& weight) {
  const int32_t rows = block_of(x);
  Filters out;
  out.columns = at(rows).columns;
  const Axis whole = out.columns == 1 ? Axis{} : Axis{columns_atom(out.columns)};
  const std::vector<int64_t> shape = weight.dims();
  const size_t rank = x.axes.size(), spatial = rank < 3 ? 0 : rank - 2;
  const bool last = node.integer("channels_last", 0) != 0;
  if (rank < 3 || rank > 4 || !(x.axes[0] == Axis{kBatchAtom}))
    refuse("goes over something else than the tokens of texts");
  const std::vector<int64_t> strides = each(node, "strides", spatial, 1), gaps = each(node, "dilations", spatial, 1),
                             pads = each(node, "pads", 2 * spatial, 0), windows = node.integers("kernel_shape");
  const std::string padding = node.text("auto_pad", "NOTSET");
  const bool usual = strides.size() == spatial && gaps.size() == spatial && pads.size() == 2 * spatial &&
                     node.integer("group", 1) == 1 && padding != "SAME_LOWER";
  if (!usual) refuse("has groups, or attributes that do not fit");
  if (last) {
    const bool fits = rank == 3 && x.axes[2] == whole && is_tokens(x.axes[1]) && shape.size() == 2 &&
                      windows.size() == 1 && windows[0] > 0 && shape[1] == windows[0] * out.columns;
    if (!fits) refuse("its filters do not fit");
    out.window = windows[0];
    out.tokens = 1;
  } else if (shape.size() != rank) {
    refuse("its filters do not fit");
  }
  bool columns = last || (x.axes[1] == whole && shape[1] == out.columns);
  const bool channels = columns;
  for (size_t i = 2; i < rank && !last; ++i) {
    const Axis& axis = x.axes[i];
    const bool alone = shape[i] == 1 || (!channels && axis == whole && shape[i] == out.columns && shape[1] == 1);
    if (out.tokens == 0 && is_tokens(axis)) {
      out.tokens = i;
      out.window = shape[i];
    } else if (alone && (axis.empty() || !channels) && pads[i - 2] == 0 && pads[spatial + i - 2] == 0) {
      columns = columns || axis == whole;
    } else {
      refuse("goes over something else than the tokens of texts");
    }
  }
  if (!columns || out.tokens == 0)
    refuse("goes over something else than the tokens of texts, or over a part of their columns");
  const size_t at_tokens = last ? 0 : out.tokens - 2;
  constexpr int64_t kMostWindow = 64;
  if (strides[at_tokens] != 1) refuse("has steps");
  if (out.window < 1 || out.window > kMostWindow || gaps[at_tokens] < 1 || gaps[at_tokens] > kMostWindow ||
      (out.window - 1) * gaps[at_tokens] >= kMostWindow) {
    refuse("has a window of more than 64 tokens");
  }
  out.gap = gaps[at_tokens];
  out.reach = (out.window - 1) * out.gap + 1;
  out.before = pads[at_tokens];
  out.after = pads[spatial + at_tokens];
  if (padding == "SAME_UPPER") {
    out.before = (out.reach - 1) / 2;
    out.after = out.reach - 1 - out.before;
  }
  const bool none = out.before == 0 && out.after == 0;
  if (out.before < 0 || out.after < 0 || (!none && out.before + out.after != out.reach - 1)) {
    refuse("has neither as many windows as there are tokens nor no padding: other padding is not read");
  }
  // Missing rows would be zeros for the next convolution.
  if (!none && x.axes[out.tokens][0].less != 0) refuse("is padded, and stands behind one that is not");
  return out;
}

/// A convolution over tokens, either padded so that each token has a window, or not padded, so that the last tokens
/// have none. The filters are [filters, columns, window], with axes of extent 1 or all columns after the window; with
/// channels_last, they are [filters, window * columns] and stay in the file.
Value Lowering::convolved(const Node& node, const Value& x, Parameter weight) {
  const Filters of = filters_of(node, x, weight);
  const int32_t rows = block_of(x);
  const int64_t filters = weight.dims()[0];
  Axis tokens = x.axes[of.tokens];
  const bool none = of.before == 0 && of.after == 0, last = node.integer("channels_last", 0) != 0;
  int32_t unfolded = rows;
  if (of.reach > 1) {
    Block unfold;
    unfold.kind = Block::Kind::kUnfold;
    unfold.name = node.name;
    unfold.inputs = {rows};
    unfold.before = static_cast<uint32_t>(of.before);
    unfold.after = static_cast<uint32_t>(of.reach - 1 - of.before);
    unfold.columns = static_cast<uint32_t>(of.reach * of.columns);
    unfolded = add(std::move(unfold));
    if (none) tokens[0].less += of.reach - 1;
  }
  if (!last) {
    const std::shared_ptr<const HostTensor> given = host_of(weight);
    if (given == nullptr) refuse("its filters are not constants, or larger than is read here");
    constexpr int64_t kMostMade = int64_t{1} << 24;
    if (filters > kMostMade / (of.reach * of.columns))
      refuse("its filters with their gaps are larger than is read here");
    // [filters, reach, columns]; tokens in gaps get zeros.
    const std::vector<int64_t> shape = weight.dims();
    const bool turned = shape[1] == 1 && of.columns != 1;  // columns are an axis of their own
    const bool behind = !turned || of.tokens == 2;         // [columns, window] or [window, columns]
    std::vector<double> made(static_cast<size_t>(filters * of.reach * of.columns));
    for (int64_t i = 0; i < filters * of.window * of.columns; ++i) {
      const int64_t column = i % of.columns, token = i / of.columns % of.window, filter = i / of.columns / of.window;
      const int64_t from = turned && behind ? i : (filter * of.columns + column) * of.window + token;
      made[static_cast<size_t>((filter * of.reach + token * of.gap) * of.columns + column)] =
          given->at(static_cast<size_t>(from));
    }
    weight = matrix_parameter(weight.name, filters, of.reach * of.columns, std::move(made));
  }
  weight.turned = !weight.turned;  // as linear() expects it
  const int32_t y = linear(node, unfolded, std::move(weight));
  Axes axes(x.axes.size());
  axes[0] = {kBatchAtom};
  axes[of.tokens] = tokens;
  axes[last ? 2 : 1] = filters == 1 ? Axis{} : Axis{columns_atom(filters)};
  return rows_of(y, std::move(axes));
}

}  // namespace bantam::convert::onnx
