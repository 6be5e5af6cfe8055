// Rows of positions that files add to rows of tokens: slices of a table, lookups, or values computed from the length of
// the texts alone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {
namespace {

/// The indices of the axis of tokens and of the axis of `columns`; nullopt unless there is exactly one of each.
struct Sides {
  size_t tokens = 0, columns = 0;
};
std::optional<Sides> sides_of(const Axes& axes, int64_t columns) {
  Sides out{axes.size(), axes.size()};
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == Axis{kTokensAtom}) out.tokens = i;
    if (axes[i] == Axis{columns_atom(columns)}) out.columns = i;
  }
  if (out.tokens == axes.size() || out.columns == axes.size()) return std::nullopt;
  return out;
}

}  // namespace

/// Returns true if only sums read the value, which shows that it is a table of positions.
bool Lowering::is_added_alone(const std::string& name) const {
  bool any = false;
  for (const Node& node : model_.graph.nodes) {
    if (std::find(node.inputs.begin(), node.inputs.end(), name) == node.inputs.end()) continue;
    if (node.op != "Add") return false;
    any = true;
  }
  return any && outputs_.count(name) == 0;
}

/// Takes the first rows of a position table, one per token; axes other than rows and columns have extent 1.
void Lowering::cut_table(const Node& node) {
  const Value& x = in(node, 0);
  const std::vector<int64_t> axes = list(node, 3, "axes"), steps = list(node, 4, "steps"),
                             starts = list(node, 1, "starts");
  const std::vector<std::vector<int64_t>> ends = lists(node, 2, "ends");
  const std::vector<int64_t> shape = x.constant.dims();
  const size_t rank = shape.size();
  size_t rows = rank;
  int64_t first = 0;
  bool tokens = rank >= 2;
  for (size_t i = 0; i < starts.size() && tokens; ++i) {
    const int64_t given = i < axes.size() ? axes[i] : static_cast<int64_t>(i);
    const int64_t axis = given < 0 ? given + static_cast<int64_t>(rank) : given;
    tokens = axis >= 0 && axis < static_cast<int64_t>(rank) && (i >= steps.size() || steps[i] == 1);
    bool whole = tokens && starts[i] == 0;
    for (size_t p = 0; p < probes_.size() && tokens; ++p) {
      tokens = i < ends[p].size();
      whole = whole && tokens && ends[p][i] >= shape[static_cast<size_t>(axis)];
    }
    if (!tokens || whole) continue;
    for (size_t p = 0; p < probes_.size() && tokens; ++p) tokens = ends[p][i] - starts[i] == extents(p).tokens;
    tokens = tokens && rows == rank && starts[i] >= 0;
    rows = static_cast<size_t>(axis);
    first = starts[i];
  }
  if (rows == rank && tokens) return set(node, 0, x);  // the whole table
  Axes out(rank);
  for (size_t i = 0; i < rank && tokens; ++i) {
    if (i == rows) {
      out[i] = {kTokensAtom};
    } else if (i + 1 == rank) {
      out[i] = shape[i] == 1 ? Axis{} : Axis{columns_atom(shape[i])};
    } else {
      tokens = shape[i] == 1;
    }
  }
  if (!tokens || rows + 1 >= rank || first > std::numeric_limits<int32_t>::max()) {
    refuse("a constant is cut otherwise than for tokens in their order");
  }
  Block block;
  block.kind = Block::Kind::kEmbed;
  block.name = node.name;
  block.columns = static_cast<uint32_t>(shape[rank - 1]);
  block.weight = x.constant;
  if (rank > 2) block.weight.shape = {shape[rows], shape[rank - 1]};
  block.index = fb::IndexSource::positions;
  block.first = static_cast<uint32_t>(first);
  set(node, 0, rows_of(add(std::move(block)), std::move(out)));
}

/// Converts values that are the same for each text, with one row per token, to rows of a position table; nullopt if
/// they differ between texts. A constant table has as many rows as the graph has tokens; a computed table is run for
/// the longest text.
std::optional<Value> Lowering::rows_of_places(const Node& node, size_t input, const Value& beside) {
  const Value& given = in(node, input);
  const auto columns = static_cast<int64_t>(at(functions_.base(beside.term)).columns);
  const std::optional<Sides> sides = sides_of(beside.axes, columns);
  if (!sides || number_of(given)) return std::nullopt;
  const size_t rank = beside.axes.size();
  Block block;
  block.kind = Block::Kind::kEmbed;
  block.name = node.name;
  block.columns = static_cast<uint32_t>(columns);
  block.index = fb::IndexSource::positions;
  const auto extent_of = [&](const std::vector<int64_t>& dims, size_t axis) {
    return axis + dims.size() < rank ? 1 : dims[axis + dims.size() - rank];
  };
  if (given.kind == Value::Kind::kConstant) {
    const std::vector<int64_t> dims = given.constant.dims();
    bool fits = dims.size() >= 2 && dims.size() <= rank && sides->tokens < sides->columns && !given.constant.turned &&
                (!given.constant.is_integer() || given.constant.scale != nullptr) &&
                (given.constant.scale == nullptr || given.constant.scale->size() == 1 || dims.size() == 2);
    for (size_t i = 0; i < rank && fits; ++i) {
      const int64_t wanted = i == sides->tokens ? extents(0).tokens : i == sides->columns ? columns : 1;
      fits = extent_of(dims, i) == wanted;
    }
    for (size_t p = 0; p < probes_.size() && fits; ++p) fits = extents(p).tokens == extents(0).tokens;
    if (!fits) return std::nullopt;
    block.weight = given.constant;
    if (dims.size() > 2) block.weight.shape = {extents(0).tokens, columns};
    return rows_of(add(std::move(block)), beside.axes);
  }
  if (given.kind != Value::Kind::kHost) return std::nullopt;
  std::vector<double> longest;
  for (size_t p = 0; p < probes_.size(); ++p) {
    std::vector<int64_t> wide = dims(beside.axes, extents(p));
    for (size_t i = 0; i < rank; ++i) {
      if (i != sides->tokens && i != sides->columns) wide[i] = extent_of(given.host[p].dims, i);
    }
    if (given.host[p].dims.size() > rank || extent_of(given.host[p].dims, sides->tokens) != extents(p).tokens) {
      return std::nullopt;
    }
    const HostTensor all = broadcast(given.host[p], wide);
    const auto tokens = static_cast<size_t>(extents(p).tokens), width = static_cast<size_t>(columns);
    std::vector<double> rows(tokens * width);
    size_t after_tokens = 1, after_columns = 1;
    for (size_t i = sides->tokens + 1; i < rank; ++i) after_tokens *= static_cast<size_t>(wide[i]);
    for (size_t i = sides->columns + 1; i < rank; ++i) after_columns *= static_cast<size_t>(wide[i]);
    std::vector<bool> known(rows.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t at_row = i / after_tokens % tokens * width + i / after_columns % width;
      if (known[at_row] && rows[at_row] != all.at(i)) return std::nullopt;  // texts differ
      known[at_row] = true;
      rows[at_row] = all.at(i);
    }
    const size_t both = std::min(rows.size(), longest.size());
    for (size_t i = 0; i < both; ++i) {
      // Values depend on the text length.
      if (std::fabs(rows[i] - longest[i]) > 1e-6 * (1 + std::fabs(rows[i]))) return std::nullopt;
    }
    if (rows.size() > longest.size()) longest = std::move(rows);
  }
  const auto rows = static_cast<int64_t>(longest.size()) / columns;
  block.weight = matrix_parameter("", rows, columns, std::move(longest));
  // Longer texts have more rows, but not more than the table has.
  const Reach reach{int64_t{1} << 40, given.reach.most};
  block.most_places = reach.most < kAllPlaces ? static_cast<uint32_t>(reach.most) : kAllPlaces;
  want(reach);
  return rows_of(add(std::move(block)), beside.axes);
}

}  // namespace bantam::convert::onnx
