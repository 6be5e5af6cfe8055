// Rotary positions: operations on the columns of query and key heads before their product.
#include <algorithm>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {

/// The unrotated columns of heads, if the value consists of heads.
std::shared_ptr<const Turned> Lowering::turned_of(const Value& value) {
  if (!is_of_heads(value.axes)) return nullptr;
  if (value.kind == Value::Kind::kTurned) return value.turned;
  if (value.kind != Value::Kind::kRows) return nullptr;
  double factor = 1;
  const int32_t block = collapse(functions_.without_factor(value.term, &factor));
  const Turned plain(block, static_cast<size_t>(value.axes[3][0].extent), probes_);
  return std::make_shared<const Turned>(factor == 1 ? plain : plain.times(factor));
}

/// One number per token and column of a head, for each probe; nullopt if they differ between texts or heads.
std::optional<std::vector<std::vector<double>>> Lowering::factors_of(const Axes& axes, const Value& value) const {
  const std::optional<std::vector<HostTensor>> given = host(value);
  if (!given) return std::nullopt;
  std::vector<std::vector<double>> out;
  const size_t tokens = axes[1] == Axis{kTokensAtom} ? 1 : 2;
  for (size_t p = 0; p < probes_.size(); ++p) {
    std::vector<int64_t> whole = dims(axes, extents(p));
    whole[3 - tokens] = 1;
    const std::vector<int64_t> wide = broadcast_dims((*given)[p].dims, whole);
    if (wide != whole) return std::nullopt;
    const HostTensor all = broadcast((*given)[p], whole);
    const size_t each = all.size() / static_cast<size_t>(whole[0]);
    out.emplace_back();
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t text = i / each, token = i % each / static_cast<size_t>(whole[3]);
      if (text == 0) out.back().push_back(all.at(i));
      const bool there = probes_[p].mask[text * static_cast<size_t>(whole[tokens]) + token] != 0;
      if (there && all.at(i) != out.back()[i % each]) return std::nullopt;
    }
  }
  return out;
}

void Lowering::set_turned(const Node& node, const Value& like, Turned turned) {
  Value out;
  out.kind = Value::Kind::kTurned;
  out.axes = like.axes;
  out.axes[3] = {columns_atom(static_cast<int64_t>(turned.columns()))};
  out.reach = like.reach;
  out.turned = std::make_shared<const Turned>(std::move(turned));
  set(node, 0, std::move(out));
}

bool Lowering::read_turned(const Node& node) {
  const std::string& op = node.op;
  if (op == "RotaryEmbedding" && node.domain == "com.microsoft") return read_contributed_rotary(node), true;
  if (!node.domain.empty()) return false;
  if (op == "RotaryEmbedding") return read_rotary_operator(node), true;
  const bool any = kind(node, 0) == Value::Kind::kTurned || kind(node, 1) == Value::Kind::kTurned;
  if (op == "Slice" && (any || is_of_heads(in(node, 0).axes))) return cut_turned(node);
  if (op == "Split" && is_of_heads(in(node, 0).axes)) return split_turned(node);
  if (op == "Concat" && any) {
    std::shared_ptr<const Turned> all;
    if (axis_of(in(node, 0), node.integer("axis", 0)) != 3) refuse("joins columns of heads otherwise than in a row");
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::shared_ptr<const Turned> next = turned_of(in(node, i));
      if (next == nullptr || (all != nullptr && next->block() != all->block())) refuse("joins columns of two tensors");
      all = all == nullptr ? next : std::make_shared<const Turned>(all->joined(*next));
    }
    return set_turned(node, in(node, 0), *all), true;
  }
  // A factor applies whatever the order of the columns.
  const auto scale = [&](const Value& rows, double factor) {
    Value out = rows;
    out.turned = std::make_shared<const Turned>(rows.turned->times(factor));
    set(node, 0, std::move(out));
  };
  if (op == "Neg" && any) return scale(in(node, 0), -1), true;
  if ((op == "Add" || op == "Sub") && any) {
    const std::shared_ptr<const Turned> a = turned_of(in(node, 0)), b = turned_of(in(node, 1));
    if (a == nullptr || b == nullptr || a->block() != b->block() || a->columns() != b->columns() ||
        !(in(node, 0).axes == in(node, 1).axes)) {
      refuse("adds columns of two tensors");
    }
    Value like = in(node, 0);
    like.reach.add(in(node, 1).reach);
    return set_turned(node, like, a->plus(op == "Add" ? *b : b->times(-1))), true;
  }
  if (op != "Mul" && op != "Div") return false;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const Value &rows = in(node, i), &other = in(node, 1 - i);
    const bool turned = rows.kind == Value::Kind::kTurned;
    if ((!turned && !(rows.kind == Value::Kind::kRows && is_of_heads(rows.axes))) || (op == "Div" && i == 1)) continue;
    if (const std::optional<double> number = number_of(other)) {
      if (!turned) return false;
      return scale(rows, op == "Mul" ? *number : 1 / *number), true;
    }
    // A constant depends on positions if it has as many rows as a fixed-length graph has tokens.
    const std::shared_ptr<const HostTensor> constant = constant_of(other);
    const bool fixed = constant != nullptr && constant->dims.size() >= 2 &&
                       constant->dims[constant->dims.size() - 2] == extents(0).tokens && has_fixed_tokens();
    if (op == "Div" || (other.kind != Value::Kind::kHost && !fixed)) continue;
    const std::optional<std::vector<std::vector<double>>> factors = factors_of(rows.axes, other);
    if (!factors) continue;
    const std::shared_ptr<const Turned> plain = turned_of(rows);
    Value like = rows;
    like.reach.add(reach(node, 1 - i));
    return set_turned(node, like, plain->times(*factors)), true;
  }
  return false;
}

namespace {

/// Rotates the two halves of the first `turned` columns by the angles of their tokens.
Turned rotated(const Turned& all, size_t turned, const std::vector<std::vector<double>>& cosines,
               const std::vector<std::vector<double>>& sines) {
  const size_t half = turned / 2;
  const Turned front = all.cut(0, half), back = all.cut(half, turned);
  Turned out = front.times(cosines).plus(back.times(sines).times(-1));
  out = out.joined(back.times(cosines).plus(front.times(sines)));
  return turned < all.columns() ? out.joined(all.cut(turned, all.columns())) : out;
}

}  // namespace

/// Rotates `heads` by the tables in the input `cosines` and the next one: [positions, half of the rotated columns].
Value Lowering::turned_heads(const Node& node, Value heads, size_t cosines) {
  const std::shared_ptr<const Turned> all = turned_of(heads);
  const std::shared_ptr<const HostTensor> tables[] = {constant_of(in(node, cosines)),
                                                      constant_of(in(node, cosines + 1))};
  if (all == nullptr || tables[0] == nullptr || tables[1] == nullptr || tables[0]->dims.size() != 2 ||
      tables[0]->dims != tables[1]->dims) {
    refuse("turns something else than heads of tokens by constant angles");
  }
  const auto rows = static_cast<size_t>(tables[0]->dims[0]), half = static_cast<size_t>(tables[0]->dims[1]);
  if (half == 0 || 2 * half > all->columns()) refuse("turns columns that heads do not have");
  std::vector<std::vector<double>> factors[2];
  for (size_t p = 0; p < probes_.size(); ++p) {
    const auto tokens = static_cast<size_t>(extents(p).tokens);
    if (tokens > rows) refuse("has angles for fewer tokens than were run");
    for (size_t k = 0; k < 2; ++k) factors[k].emplace_back();
    for (size_t t = 0; t < tokens; ++t) {
      for (size_t i = 0; i < half; ++i) {
        for (size_t k = 0; k < 2; ++k) factors[k].back().push_back(tables[k]->at(t * half + i));
      }
    }
  }
  Reach tables_reach;
  tables_reach.most = static_cast<int64_t>(rows);
  Value out = std::move(heads);
  out.kind = Value::Kind::kTurned;
  out.turned = std::make_shared<const Turned>(rotated(*all, 2 * half, factors[0], factors[1]));
  out.reach.add(tables_reach);
  return out;
}

/// RotaryEmbedding of ONNX Runtime, with tables of cosines and sines, and positions of tokens.
void Lowering::read_contributed_rotary(const Node& node) {
  Value x = in(node, 0);
  if (node.integer("interleaved", 0) != 0) refuse("turns neighbours");
  if (x.kind == Value::Kind::kRows && x.axes.size() == 3) {
    const std::shared_ptr<const HostTensor> table = constant_of(in(node, 2));
    const int64_t columns = at(block_of(x)).columns, given = node.integer("num_heads", 0);
    const int64_t heads = given > 0 ? given
                          : table != nullptr && table->dims.size() == 2 && table->dims[1] > 0
                              ? columns / (2 * table->dims[1])
                              : 0;
    if (heads < 1 || columns % heads != 0) refuse("its heads do not divide its columns");
    const int64_t width = columns / heads;
    x.axes = {
        {kBatchAtom}, {kTokensAtom}, heads == 1 ? Axis{} : Axis{columns_atom(heads, width)}, {columns_atom(width)}};
  }
  std::optional<std::vector<HostTensor>> places = host(in(node, 1));
  if (!places) refuse("its places depend on what the model computes");
  // A single number is the position of the first token.
  for (size_t p = 0; p < probes_.size(); ++p) {
    HostTensor& one = (*places)[p];
    if (one.size() != 1 || extents(p).tokens * extents(p).batch == 1) continue;
    const int64_t first = one.integer(0);
    one = host_integers({});
    for (int64_t t = 0; t < extents(p).tokens * extents(p).batch; ++t)
      one.ints.push_back(first + t % extents(p).tokens);
    one.dims = {extents(p).batch, extents(p).tokens};
  }
  const std::optional<Index> found = recognise_index(probes_, *places);
  if (!found || found->source != fb::IndexSource::positions || found->first != 0)
    refuse("its places are not those of tokens");
  set(node, 0, turned_heads(node, x, 2));
}

/// RotaryEmbedding of opset 23, with a cosine and a sine per token.
void Lowering::read_rotary_operator(const Node& node) {
  const Value x = in(node, 0);
  const std::shared_ptr<const Turned> all = turned_of(x);
  if (all == nullptr || there(node, 3)) refuse("turns something else than heads of tokens in their order");
  if (node.integer("interleaved", 0) != 0) refuse("turns neighbours");
  const int64_t given = node.integer("rotary_embedding_dim", 0);
  const size_t columns = all->columns(), turned = given == 0 ? columns : static_cast<size_t>(given);
  if (given < 0 || turned > columns || turned < 2 || turned % 2 != 0) refuse("turns columns that heads do not have");
  const size_t half = turned / 2;
  Axes axes = x.axes;
  axes[3] = {columns_atom(static_cast<int64_t>(half))};
  const auto numbers = [&](size_t input) {
    Value value;
    value.kind = Value::Kind::kHost;
    std::optional<std::vector<HostTensor>> tensors = host(in(node, input));
    if (!tensors) refuse("its cosines depend on what the model computes");
    for (HostTensor& tensor : *tensors) {
      if (tensor.dims.size() != 3) refuse("its cosines are not of tokens");
      tensor.dims.insert(tensor.dims.begin() + (axes[1] == Axis{kTokensAtom} ? 2 : 1), 1);
    }
    value.host = std::move(*tensors);
    const std::optional<std::vector<std::vector<double>>> factors = factors_of(axes, value);
    if (!factors) refuse("its cosines are not of tokens");
    return *factors;
  };
  const std::vector<std::vector<double>> cosines = numbers(1), sines = numbers(2);
  Value like = x;
  for (const size_t i : {size_t{1}, size_t{2}}) like.reach.add(reach(node, i));
  set_turned(node, like, rotated(*all, turned, cosines, sines));
}

/// A slice of the columns of heads.
bool Lowering::cut_turned(const Node& node) {
  const Value& x = in(node, 0);
  const std::vector<int64_t> starts = list(node, 1, "starts"), axes = list(node, 3, "axes"),
                             steps = list(node, 4, "steps");
  const std::vector<std::vector<int64_t>> ends = lists(node, 2, "ends");
  const bool one = starts.size() == 1 && (steps.empty() || steps[0] == 1);
  if (!one || axis_of(x, axes.empty() ? 0 : axes[0]) != 3) return false;
  const std::shared_ptr<const Turned> turned = turned_of(x);
  if (turned == nullptr) return false;
  const auto columns = static_cast<int64_t>(turned->columns());
  const auto place = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + columns : v, 0, columns); };
  const int64_t begin = place(starts[0]), end = place(ends[0].at(0));
  for (const std::vector<int64_t>& other : ends) {
    if (place(other.at(0)) != end) refuse("cuts by the length of the text");
  }
  if (begin >= end) refuse("cuts columns that are not there");
  if (begin == 0 && end == columns) return set(node, 0, x), true;
  return set_turned(node, x, turned->cut(static_cast<size_t>(begin), static_cast<size_t>(end))), true;
}

bool Lowering::split_turned(const Node& node) {
  const Value x = in(node, 0);
  if (axis_of(x, node.integer("axis", 0)) != 3) return false;
  const std::shared_ptr<const Turned> turned = turned_of(x);
  if (turned == nullptr) return false;
  std::vector<int64_t> parts = list(node, 1, "split");
  if (parts.empty()) {
    parts.assign(node.outputs.size(),
                 static_cast<int64_t>(turned->columns() / std::max<size_t>(node.outputs.size(), 1)));
  }
  size_t begin = 0;
  for (size_t i = 0; i < node.outputs.size() && i < parts.size(); ++i) {
    const size_t end = begin + static_cast<size_t>(std::max<int64_t>(parts[i], 0));
    if (end <= begin || end > turned->columns()) refuse("cuts columns that are not there");
    Value out = x;
    out.kind = Value::Kind::kTurned;
    out.axes[3] = {columns_atom(static_cast<int64_t>(end - begin))};
    out.turned = std::make_shared<const Turned>(turned->cut(begin, end));
    set(node, i, std::move(out));
    begin = end;
  }
  return true;
}

/// The block of queries or keys, and their rotation.
int32_t Lowering::turned_rows(const Value& value, double* factor, std::shared_ptr<const Turn>* turn) {
  if (value.kind != Value::Kind::kTurned) {
    turn->reset();
    return collapse(functions_.without_factor(value.term, factor));
  }
  const std::optional<Turn> found = value.turned->turn(factor);
  if (!found) refuse("what is done to the columns of its queries or keys is not a rotary turn of halves");
  want(value.reach);
  *turn = std::make_shared<const Turn>(*found);
  return value.turned->block();
}

}  // namespace bantam::convert::onnx
