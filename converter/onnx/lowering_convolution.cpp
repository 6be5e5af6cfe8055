// Convolutions over the tokens of texts: each token between its neighbours, and a matrix.
#include <algorithm>
#include <utility>

#include "onnx/lowering.h"

namespace bantam::convert::onnx {

/// With the bias, and the activation that a fused one names.
void Lowering::read_convolution(const Node& node) {
  Value out = convolved(node, in(node, 0), in(node, 1).constant);
  if (there(node, 2)) out = rows_of(biased(node, block_of(out), in(node, 2)), out.axes);
  set(node, 0, std::move(out));
  if (node.op == "FusedConv") read_activation(node);
}

/// A convolution over tokens, padded so that each token has a window, or not at all: then the last ones have none. The filters are
/// [filters, columns, window]; with channels_last, [filters, window * columns], which stay in the file.
Value Lowering::convolved(const Node& node, const Value& x, Parameter weight) {
  const int32_t rows = block_of(x);
  const auto columns = static_cast<int64_t>(at(rows).columns);
  const bool last = node.integer("channels_last", 0) != 0;
  const Axis whole = columns == 1 ? Axis{} : Axis{columns_atom(columns)};
  const size_t along = last ? 1 : 2;
  const bool texts = x.axes.size() == 3 && x.axes[0] == Axis{kBatchAtom} && x.axes[3 - along] == whole;
  if (!texts || !is_tokens(x.axes[along])) refuse("goes over something else than the tokens of texts");
  const std::vector<int64_t> shape = weight.dims();
  const std::vector<int64_t> windows = node.integers("kernel_shape");
  int64_t filters = 0, window = 0;
  if (last && shape.size() == 2 && windows.size() == 1 && windows[0] > 0 && shape[1] == windows[0] * columns) {
    filters = shape[0];
    window = windows[0];
  } else if (!last && shape.size() == 3 && shape[1] == columns) {
    filters = shape[0];
    window = shape[2];
  } else {
    refuse("its filters do not fit");
  }
  std::vector<int64_t> pads = node.integers("pads");
  if (pads.empty()) pads = {0, 0};
  const auto ones = [&](const char* name) {
    const std::vector<int64_t> values = node.integers(name);
    return values.empty() || values == std::vector<int64_t>{1};
  };
  const bool usual = node.integer("group", 1) == 1 && ones("strides") && ones("dilations") &&
                     node.text("auto_pad", "NOTSET") == "NOTSET";
  if (!usual) refuse("has groups, steps or gaps");
  constexpr int64_t kMostWindow = 64;
  const bool none = pads == std::vector<int64_t>{0, 0};
  if (window < 1 || window > kMostWindow || pads.size() != 2 || pads[0] < 0 || pads[1] < 0 ||
      (!none && pads[0] + pads[1] != window - 1)) {
    refuse("has neither as many windows as there are tokens nor no padding: other padding is not read");
  }
  Axis tokens = x.axes[along];
  // Rows that were missing would be zeros to the next convolution.
  if (!none && tokens[0].less != 0) refuse("is padded, and stands behind one that is not");
  int32_t unfolded = rows;
  if (window > 1) {
    Block unfold;
    unfold.kind = Block::Kind::kUnfold;
    unfold.name = node.name;
    unfold.inputs = {rows};
    unfold.before = static_cast<uint32_t>(pads[0]);
    unfold.after = static_cast<uint32_t>(window - 1 - pads[0]);
    unfold.columns = static_cast<uint32_t>(window * columns);
    unfolded = add(std::move(unfold));
    if (none) tokens[0].less += window - 1;
  }
  if (!last) {
    const std::shared_ptr<const HostTensor> given = host_of(weight);
    if (given == nullptr) refuse("its filters are no constants, or larger than is read here");
    std::vector<double> turned(given->size());  // [filters, window, columns]
    for (int64_t i = 0; i < filters * window * columns; ++i) {
      const int64_t column = i % columns, token = i / columns % window, filter = i / columns / window;
      turned[static_cast<size_t>(i)] = given->at(static_cast<size_t>((filter * columns + column) * window + token));
    }
    weight = matrix_parameter(weight.name, filters, window * columns, std::move(turned));
  }
  weight.turned = !weight.turned;  // as linear() takes it
  const int32_t y = linear(node, unfolded, std::move(weight));
  Axes axes = {{kBatchAtom}, tokens, tokens};
  axes[3 - along] = filters == 1 ? Axis{} : Axis{columns_atom(filters)};
  return rows_of(y, std::move(axes));
}

}  // namespace bantam::convert::onnx
