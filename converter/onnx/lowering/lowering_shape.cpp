// Nodes that reshape, slice and look up.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {

size_t Lowering::axis_of(const Value& value, int64_t axis) const {
  const auto rank = static_cast<int64_t>(value.axes.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) refuse("its axis does not exist");
  return static_cast<size_t>(axis);
}

bool Lowering::read_shape(const Node& node) {
  if (!node.domain.empty()) return false;
  const std::string& op = node.op;
  const Value& x = in(node, 0);
  if (op == "Gather" && x.kind == Value::Kind::kConstant) return read_lookup(node), true;
  if (x.kind == Value::Kind::kConstant && op == "Transpose") {
    Value out = x;
    const std::vector<int64_t> order = node.integers("perm");
    if (x.constant.dims().size() != 2 || (!order.empty() && order != std::vector<int64_t>{1, 0})) {
      const std::shared_ptr<const HostTensor> whole = constant_of(x);
      if (whole == nullptr) refuse("a constant is too large to be turned");
      out.constant.folded = std::make_shared<const HostTensor>(run_node(node, {whole.get()}, model_.opset).front());
      out.constant.tensor = nullptr;
      out.constant.turned = false;
      out.constant.scale = out.constant.zero = nullptr;
    } else {
      out.constant.turned = !out.constant.turned;
    }
    return set(node, 0, std::move(out)), true;
  }
  const bool same = op == "Identity" || op == "Dropout" || op == "Cast" || op == "CastLike";
  if (same && x.kind != Value::Kind::kHost) return set(node, 0, x), true;
  if (x.kind == Value::Kind::kConstant && op == "Slice") return cut_table(node), true;
  if (op == "Pad" && x.kind == Value::Kind::kNeighbours) return read_neighbours(node);
  if (x.kind != Value::Kind::kRows && x.kind != Value::Kind::kTurned && x.kind != Value::Kind::kScores &&
      x.kind != Value::Kind::kPlaceScores && x.kind != Value::Kind::kWeights && x.kind != Value::Kind::kMaximum) {
    return false;
  }
  if (op == "Reshape") return read_reshape(node, lists(node, 1, "shape")), true;
  if (op == "Transpose") {
    Value out = x;
    std::vector<int64_t> order = node.integers("perm");
    if (order.empty()) {
      for (size_t i = x.axes.size(); i-- > 0;) order.push_back(static_cast<int64_t>(i));
    }
    if (order.size() != x.axes.size()) refuse("perm does not fit");
    for (size_t i = 0; i < order.size(); ++i) out.axes[i] = x.axes[axis_of(x, order[i])];
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Unsqueeze" || op == "Squeeze") {
    const std::vector<int64_t> axes = list(node, 1, "axes");
    Value out = x;
    std::set<int64_t> places;
    const auto rank = static_cast<int64_t>(x.axes.size() + (op == "Unsqueeze" ? axes.size() : 0));
    for (const int64_t axis : axes) places.insert(axis < 0 ? axis + rank : axis);
    out.axes.clear();
    size_t next = 0;
    for (int64_t i = 0; i < rank; ++i) {
      if (op == "Unsqueeze") {
        const bool added = places.count(i) != 0;
        if (!added && next >= x.axes.size()) refuse("its axes do not fit");
        out.axes.push_back(added ? Axis{} : x.axes[next++]);
      } else if (places.count(i) == 0) {
        out.axes.push_back(x.axes[static_cast<size_t>(i)]);
      } else if (!x.axes[static_cast<size_t>(i)].empty()) {
        refuse("squeezes an axis of more than one");
      }
    }
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Flatten") {
    int64_t axis = node.integer("axis", 1);
    if (axis < 0) axis += static_cast<int64_t>(x.axes.size());
    std::vector<std::vector<int64_t>> shapes;
    for (const Probe& probe : probes_) {
      std::vector<int64_t> both = {1, 1};
      const std::vector<int64_t> all = dims(x.axes, probe.extents);
      for (size_t i = 0; i < all.size(); ++i) both[static_cast<int64_t>(i) < axis ? 0 : 1] *= all[i];
      shapes.push_back(both);
    }
    return read_reshape(node, shapes), true;
  }
  if (op == "Expand") {
    const std::vector<std::vector<int64_t>> shapes = lists(node, 1, "shape");
    Value out = x;
    constexpr int64_t kMostRepeats = 1 << 12;
    for (size_t p = 0; p < probes_.size(); ++p) {
      const std::vector<int64_t> now = dims(x.axes, extents(p)), wide = broadcast_dims(now, shapes[p]);
      if (wide.size() != now.size()) refuse("repeats rows");
      for (size_t i = 0; i < now.size(); ++i) {
        if (wide[i] != now[i] && (wide[i] < 1 || wide[i] > kMostRepeats)) refuse("repeats rows too often");
        // One number per row, such as its length, is repeated for each of its columns.
        const bool of_row = x.kind == Value::Kind::kRows && i + 1 == now.size() && functions_.reduced(x.term) &&
                            wide[i] == static_cast<int64_t>(at(functions_.base(x.term)).columns);
        if (p == 0 && wide[i] != now[i] && x.axes[i].empty()) out.axes[i] = {columns_atom(wide[i], of_row ? 1 : 0)};
        if (wide[i] != extent(out.axes[i], extents(p))) refuse("repeats rows");
      }
    }
    return set(node, 0, std::move(out)), true;
  }
  if (read_neighbours(node)) return true;
  if (x.kind != Value::Kind::kRows) return false;
  if (op == "Slice") return read_slice(node), true;
  if (op == "Gather") return read_gather(node), true;
  if (op == "Split") return read_split(node), true;
  return false;
}

void Lowering::read_reshape(const Node& node, const std::vector<std::vector<int64_t>>& shapes) {
  const Value& x = in(node, 0);
  std::optional<Axes> axes = onnx::reshape(x.axes, all_extents(), shapes);
  if (!axes) {
    for (size_t i = 0; i < x.axes.size() && i < shapes[0].size(); ++i) {
      const int64_t length = shapes[0][i];
      const bool baked = x.axes[i] == Axis{kTokensAtom} && length > 0 && !has_fixed_tokens() &&
                         std::all_of(shapes.begin(), shapes.end(),
                                     [&](const auto& shape) { return shape.size() > i && shape[i] == length; });
      if (!baked) continue;
      refuse(
          fmt::format("is for texts of {} tokens alone, those of the export's example; export with torch.onnx.export's "
                      "default (dynamo=True, dynamic_shapes), which keeps the length open",
                      length));
    }
    refuse("regroups a tensor otherwise than by texts, tokens, heads and columns");
  }
  Value out = x;
  out.axes = *std::move(axes);
  set(node, 0, std::move(out));
}

/// A lookup of table rows.
void Lowering::read_lookup(const Node& node) {
  if (node.integer("axis", 0) != 0) refuse("looks up a constant otherwise than rows of a table by tokens");
  const Value table = in(node, 0);
  read_lookup(node, table, in(node, 1));
}

void Lowering::read_lookup(const Node& node, const Value& table, const Value& index_value) {
  const std::vector<int64_t> shape = table.constant.dims();
  std::optional<std::vector<HostTensor>> indices = host(index_value);
  // Ids [tokens, texts] are the transposed ids [texts, tokens].
  bool turned = indices.has_value() && indices->front().dims.size() == 2, same = turned;
  for (size_t p = 0; p < probes_.size() && turned; ++p) {
    const std::vector<int64_t>& dims = (*indices)[p].dims;
    turned = dims == std::vector<int64_t>{extents(p).tokens, extents(p).batch};
    same = same && extents(p).tokens == extents(p).batch;
  }
  if (turned && !same) {
    Node turn;
    turn.op = "Transpose";
    for (HostTensor& index : *indices) index = run_node(turn, {&index}, model_.opset).front();
  } else {
    turned = false;
  }
  if (shape.size() != 2 || !indices) {
    refuse("looks up a constant otherwise than rows of a table by tokens");
  }
  const size_t rank = indices->front().dims.size();
  if (rank == 0 || rank > 2) refuse("looks up a table otherwise than by tokens");
  std::vector<HostTensor> wide;
  for (size_t p = 0; p < probes_.size(); ++p) {
    wide.push_back(broadcast((*indices)[p], {extents(p).batch, extents(p).tokens}));
  }
  const std::optional<Index> index = recognise_index(probes_, wide);
  if (!index || index->first < 0) {
    refuse("looks up a table by what is neither ids, segments, one row nor places in their order");
  }
  if (index->source == fb::IndexSource::ids && index->first != 0) refuse("adds a number to ids");
  want(reach(node, 1));
  Block block;
  block.kind = Block::Kind::kEmbed;
  block.name = node.name;
  block.columns = static_cast<uint32_t>(shape[1]);
  block.weight = table.constant;
  block.index = index->source;
  block.first = static_cast<uint32_t>(index->first);
  if (static_cast<int64_t>(block.first) >= shape[0]) refuse("looks up rows that its table does not have");
  bool texts = rank == 2, tokens = true;
  for (size_t p = 0; p < probes_.size(); ++p) {
    texts = texts && (*indices)[p].dims[0] == extents(p).batch;
    tokens = tokens && (*indices)[p].dims.back() == extents(p).tokens;
  }
  Axes axes = {texts ? Axis{kBatchAtom} : Axis{}, tokens ? Axis{kTokensAtom} : Axis{}, {columns_atom(shape[1])}};
  if (rank == 1) axes.erase(axes.begin());
  if (turned) std::swap(axes[0], axes[1]);
  set(node, 0, rows_of(add(std::move(block)), std::move(axes)));
}

/// Takes indices [begin, end) of an axis; `drop`: removes the axis.
Value Lowering::cut(const Node& node, const Value& x, size_t axis, int64_t begin, int64_t end, bool drop) {
  bool whole = true, first = begin == 0 && end == 1;
  for (const Probe& probe : probes_) {
    const int64_t count = extent(x.axes[axis], probe.extents);
    whole = whole && begin == 0 && end >= count;
  }
  Axes axes = x.axes;
  Value out = x;
  if (whole && !drop) return out;
  const Axis& of = x.axes[axis];
  if (of == Axis{kTokensAtom} && first) {
    Block block;
    block.kind = Block::Kind::kPool;
    block.name = node.name;
    block.inputs = {block_of(x)};
    block.columns = at(block.inputs[0]).columns;
    block.of_tokens = false;
    block.pool = fb::PoolKind::first;
    axes[axis].clear();
    if (drop) axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
    return rows_of(add(std::move(block)), std::move(axes));
  }
  const int32_t from = block_of(x);
  const auto columns = static_cast<int64_t>(at(from).columns);
  if (of == Axis{columns_atom(columns)}) {
    if (begin < 0 || end > columns || begin >= end) refuse("cuts columns that are not there");
    Block block;
    block.kind = Block::Kind::kSlice;
    block.name = node.name;
    block.inputs = {from};
    block.columns = static_cast<uint32_t>(end - begin);
    block.begin = static_cast<uint32_t>(begin);
    block.of_tokens = at(from).of_tokens;
    axes[axis] = block.columns == 1 ? Axis{} : Axis{columns_atom(end - begin)};
    if (drop) axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
    return rows_of(add(std::move(block)), std::move(axes));
  }
  // A part of the columns with the largest step, such as the queries of [3, heads, width].
  const bool outermost = of.size() == 1 && of[0].kind == Atom::Kind::kColumns && of[0].extent * of[0].step == columns;
  if (outermost && begin >= 0 && begin < end && end <= of[0].extent) {
    Block block;
    block.kind = Block::Kind::kSlice;
    block.name = node.name;
    block.inputs = {from};
    block.columns = static_cast<uint32_t>((end - begin) * of[0].step);
    block.begin = static_cast<uint32_t>(begin * of[0].step);
    block.of_tokens = at(from).of_tokens;
    const int64_t step = of[0].step;
    axes[axis] = end - begin == 1 ? Axis{} : Axis{columns_atom(end - begin, step)};
    if (drop) axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
    return rows_of(add(std::move(block)), std::move(axes));
  }
  if (of.empty() && whole) {
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
    out.axes = std::move(axes);
    return out;
  }
  refuse("takes something else than the first token, or some columns");
}

/// Reads rows without the first or the last tokens, and zero padding at the other end: these are neighbors.
bool Lowering::read_neighbours(const Node& node) {
  const Value& x = in(node, 0);
  constexpr int64_t kMostShift = 16;
  Value out = x;
  if (node.op == "Pad" && x.kind == Value::Kind::kNeighbours && !x.padded) {
    const std::vector<int64_t> pads = list(node, 1, "pads");
    const std::optional<double> value = there(node, 2) ? number_of(in(node, 2)) : std::optional(0.0);
    const size_t rank = x.axes.size();
    bool fits =
        node.text("mode", "constant") == "constant" && value == 0.0 && !there(node, 3) && pads.size() == 2 * rank;
    for (size_t i = 0; i < pads.size() && fits; ++i) {
      const bool tokens = x.axes[i % rank] == Axis{kTokensAtom};
      const int64_t wanted = !tokens || (i < rank) == (x.shift > 0) ? 0 : std::abs(x.shift);
      fits = pads[i] == wanted;
    }
    if (!fits) refuse("pads tokens otherwise than where some have been cut off");
    out.padded = true;
    return set(node, 0, std::move(out)), true;
  }
  if (node.op != "Slice" || x.kind != Value::Kind::kRows) return false;
  const std::vector<int64_t> starts = list(node, 1, "starts"), axes = list(node, 3, "axes"),
                             steps = list(node, 4, "steps");
  const std::vector<std::vector<int64_t>> ends = lists(node, 2, "ends");
  if (starts.size() != 1 || (!steps.empty() && steps[0] != 1)) return false;
  const size_t axis = axis_of(x, axes.empty() ? 0 : axes[0]);
  if (!(x.axes[axis] == Axis{kTokensAtom})) return false;
  int64_t front = -1, back = -1;
  for (size_t p = 0; p < probes_.size(); ++p) {
    const int64_t count = extents(p).tokens, end = ends[p].at(0);
    const int64_t last = std::min(end < 0 ? end + count : end, count), cut = count - last;
    const int64_t first = starts[0] < 0 ? starts[0] + count : starts[0];
    if (p > 0 && (first != front || cut != back)) return false;
    front = first;
    back = cut;
  }
  const int64_t shift = front - back;
  if ((front != 0 && back != 0) || shift == 0 || std::abs(shift) > kMostShift) return false;
  out.kind = Value::Kind::kNeighbours;
  out.shift = shift;
  out.padded = false;
  return set(node, 0, std::move(out)), true;
}

void Lowering::read_slice(const Node& node) {
  Value x = in(node, 0);
  const std::vector<int64_t> starts = list(node, 1, "starts");
  const std::vector<std::vector<int64_t>> all_ends = lists(node, 2, "ends");
  std::vector<int64_t> axes = list(node, 3, "axes");
  const std::vector<int64_t> steps = list(node, 4, "steps");
  for (size_t i = 0; i < starts.size(); ++i) {
    if (i < steps.size() && steps[i] != 1) refuse("takes every so many");
    const size_t axis = axis_of(x, i < axes.size() ? axes[i] : static_cast<int64_t>(i));
    const int64_t count = extent(x.axes[axis], extents(0));
    const bool last = starts.size() == 1 && starts[0] == -1 && is_tokens(x.axes[axis]) && x.axes[axis][0].less == 0 &&
                      all_ends[0].at(0) > (1 << 30) && !has_input(InputRole::kMask);
    if (last) return read_last(node, axis);
    // Ends that depend on the text must be the end of the axis.
    bool whole = starts[i] == 0;
    for (size_t p = 0; p < probes_.size(); ++p) {
      if (i >= all_ends[p].size()) refuse("has fewer ends than starts");
      whole = whole && all_ends[p][i] >= extent(x.axes[axis], extents(p));
    }
    if (whole) continue;
    const auto place = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + count : v, 0, count); };
    for (size_t p = 0; p < probes_.size(); ++p) {
      if (all_ends[p][i] != all_ends[0][i]) refuse("cuts by the length of the text");
    }
    x = cut(node, x, axis, place(starts[i]), place(all_ends[0][i]), false);
  }
  set(node, 0, std::move(x));
}

void Lowering::read_gather(const Node& node) {
  const Value& x = in(node, 0);
  const std::optional<double> index = number_of(in(node, 1));
  if (!index) refuse("takes rows by what depends on the text");
  const size_t axis = axis_of(x, node.integer("axis", 0));
  auto place = static_cast<int64_t>(*index);
  if (place == -1 && x.axes[axis] == Axis{kTokensAtom} && !has_input(InputRole::kMask)) {
    return read_last(node, axis);
  }
  if (place < 0 && x.axes[axis] == Axis{kTokensAtom}) refuse("takes the last token, which may fill up");
  if (place < 0) place += extent(x.axes[axis], extents(0));
  const std::optional<std::vector<HostTensor>> given = host(in(node, 1));
  set(node, 0, cut(node, x, axis, place, place + 1, given->front().dims.empty()));
}

/// Takes the last token; without a mask, texts are not padded.
void Lowering::read_last(const Node& node, size_t axis) {
  const Value& x = in(node, 0);
  Axes axes = x.axes;
  axes[axis].clear();
  const bool drops = node.op == "Gather" && host(in(node, 1))->front().dims.empty();
  if (drops) axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
  set(node, 0, rows_of(pooled(node, block_of(x), fb::PoolKind::last), std::move(axes)));
}

void Lowering::read_split(const Node& node) {
  const Value x = in(node, 0);
  const size_t axis = axis_of(x, node.integer("axis", 0));
  std::vector<int64_t> parts = list(node, 1, "split");
  const int64_t count = extent(x.axes[axis], extents(0));
  if (parts.empty())
    parts.assign(node.outputs.size(), count / static_cast<int64_t>(std::max<size_t>(node.outputs.size(), 1)));
  int64_t begin = 0;
  for (size_t i = 0; i < node.outputs.size() && i < parts.size(); ++i) {
    set(node, i, cut(node, x, axis, begin, begin + parts[i], false));
    begin += parts[i];
  }
}

}  // namespace bantam::convert::onnx
