// Position scores (DeBERTa's disentangled attention, arXiv 2006.03654): reads how files compute them from a table of
// positions, the queries and keys that are multiplied by it, and the distances that select one of the products.
#include <algorithm>
#include <cmath>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {
namespace {

/// Returns true if a permutation swaps the last two axes and keeps the others.
bool swaps_last(const std::vector<int64_t>& order) {
  const auto rank = static_cast<int64_t>(order.size());
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t expected = i == rank - 2 ? rank - 1 : i == rank - 1 ? rank - 2 : i;
    if (order[static_cast<size_t>(i)] != expected) return false;
  }
  return rank >= 2;
}

}  // namespace

/// Returns true if only GatherElements reads the value, as its index. Such an index keeps its small size and is
/// broadcast where it is used.
bool Lowering::is_index_alone(const std::string& name) const {
  bool any = false;
  for (const Node& node : model_.graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != name) continue;
      if (node.op != "GatherElements" || i != 1) return false;
      any = true;
    }
  }
  return any;
}

/// Reads constants that are repeated for each text, and indices that are repeated for each head.
bool Lowering::read_repeated(const Node& node) {
  if (!node.domain.empty() || (node.op != "Expand" && node.op != "Tile") || kind(node, 1) == Value::Kind::kConstant) {
    return false;
  }
  const Value& x = in(node, 0);
  const bool index = x.kind == Value::Kind::kHost && node.op == "Expand" && is_index_alone(node.output(0));
  if (index) return set(node, 0, x), true;
  if (x.kind != Value::Kind::kConstant || x.constant.dims().size() < 3) return false;
  const std::vector<int64_t> shape = x.constant.dims();
  const std::optional<std::vector<HostTensor>> counts = host(in(node, 1));
  if (!counts) return false;
  bool same = true, texts = true;
  for (size_t p = 0; p < probes_.size(); ++p) {
    if ((*counts)[p].size() != shape.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t count = (*counts)[p].integer(i);
      const bool one = count == 1 || (node.op == "Expand" && count == shape[i]);
      same = same && one;
      texts = texts && (i == 0 && node.op == "Tile" ? count == extents(p).batch : one);
    }
  }
  if (!same && !texts) return false;
  Value out = x;
  out.repeated = out.repeated || !same;
  return set(node, 0, std::move(out)), true;
}

bool Lowering::read_places(const Node& node) {
  const std::string& op = node.op;
  const auto is = [&](size_t i) { return kind(node, i) == Value::Kind::kPlaceScores; };
  const bool product =
      (op == "MatMul" && node.domain.empty()) || (op == "FusedMatMul" && node.domain == "com.microsoft");
  if (product && kind(node, 0) == Value::Kind::kRows && kind(node, 1) == Value::Kind::kConstant &&
      in(node, 1).constant.dims().size() >= 3) {
    return read_place_products(node), true;
  }
  if (!node.domain.empty() || (!is(0) && !is(1))) return false;
  if (op == "GatherElements" && is(0)) return select_places(node), true;
  if (op == "Transpose") {
    Value out = in(node, 0);
    if (!swaps_last(node.integers("perm"))) return false;
    for (PlaceTerm& term : out.places) {
      if (term.places.empty()) refuse("turns products of places before distances have selected some");
      term.turned = !term.turned;
    }
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Mul" || op == "Div") {
    const size_t i = is(0) ? 0 : 1;
    const std::optional<double> number = number_of(in(node, 1 - i));
    if (!number || (op == "Div" && i == 1)) refuse("does something to scores of places that is not a scale");
    Value out = in(node, i);
    for (PlaceTerm& term : out.places) term.scale *= op == "Mul" ? *number : 1 / *number;
    return set(node, 0, std::move(out)), true;
  }
  if (op != "Add") return false;
  const size_t i = is(0) ? 0 : 1;
  const Value &places = in(node, i), &other = in(node, 1 - i);
  Value out = other;
  if (other.kind == Value::Kind::kPlaceScores) {
    out.places.insert(out.places.end(), places.places.begin(), places.places.end());
    out.reach.add(places.reach);
  } else if (other.kind == Value::Kind::kScores && !other.scores->softmax) {
    out.scores = std::make_shared<Scores>(*other.scores);
    add_places(*out.scores, places);
  } else if (number_of(other) == 0.0) {
    out = places;
  } else {
    refuse("adds scores of places to something else than scores");
  }
  if (other.kind != Value::Kind::kConstant && !(out.axes == places.axes)) refuse("adds scores that lie otherwise");
  return set(node, 0, std::move(out)), true;
}

/// Multiplies rows of heads by rows of positions.
void Lowering::read_place_products(const Node& node) {
  const Value &x = in(node, 0), &table = in(node, 1);
  const auto heads = heads_of(x.axes, false);
  const bool fused = node.op == "FusedMatMul";
  const bool rows = fused && node.integer("transB", 0) != 0;  // otherwise columns are positions
  if (!heads || heads->heads != heads->kv_heads || (fused && node.integer("transA", 0) != 0)) {
    refuse("multiplies a constant of more than two axes with rows of no heads");
  }
  const std::shared_ptr<const HostTensor> given = constant_of(table);
  if (given == nullptr) refuse("its table of places is larger than is read here");
  const std::vector<int64_t>& shape = given->dims;
  const size_t rank = shape.size();
  const int64_t width = shape[rank - (rows ? 1 : 2)], places = shape[rank - (rows ? 2 : 1)];
  if (width != heads->width || places < 1 || static_cast<int64_t>(given->size()) != heads->heads * places * width) {
    refuse("its table of places does not fit its heads");
  }
  PlaceTerm term;
  term.heads = heads->heads;
  term.width = width;
  double factor = 1;
  term.block = collapse(functions_.without_factor(x.term, &factor));
  term.scale = factor * double{node.number("alpha", 1)};
  HostTensor ordered = host_floats({term.heads, places, width}, {});
  for (int64_t i = 0; i < term.heads * places * width; ++i) {
    const int64_t head = i / (places * width), place = i / width % places, column = i % width;
    const int64_t from = rows ? i : (head * width + column) * places + place;
    ordered.floats.push_back(given->at(static_cast<size_t>(from)));
  }
  term.table = std::make_shared<const HostTensor>(std::move(ordered));
  Value out;
  out.kind = Value::Kind::kPlaceScores;
  out.axes = x.axes;
  out.axes.back() = places == 1 ? Axis{} : Axis{columns_atom(places)};
  out.places = {std::move(term)};
  set(node, 0, std::move(out));
}

/// Selects a position for each distance.
void Lowering::select_places(const Node& node) {
  Value out = in(node, 0);
  const std::optional<std::vector<HostTensor>> index = host(in(node, 1));
  const bool last = axis_of(out, node.integer("axis", 0)) + 1 == out.axes.size();
  if (!index || !last || out.places.size() != 1 || !out.places.front().places.empty()) {
    refuse("selects something else than places by distances");
  }
  PlaceTerm& term = out.places.front();
  const int64_t count = term.table->dims[1];
  int64_t longest = 1;
  for (const Probe& probe : probes_) longest = std::max(longest, probe.extents.tokens);
  term.places.assign(static_cast<size_t>(2 * longest - 1), -1);
  for (size_t p = 0; p < probes_.size(); ++p) {
    const HostTensor& places = (*index)[p];
    const auto tokens = static_cast<size_t>(extents(p).tokens);
    const size_t rank = places.dims.size();
    const bool fits =
        rank >= 2 && places.dims[rank - 1] == extents(p).tokens && places.dims[rank - 2] == extents(p).tokens;
    if (!fits) refuse("selects something else than a place for each pair of tokens");
    for (size_t i = 0; i < places.size(); ++i) {
      const size_t row = i / tokens % tokens, column = i % tokens;
      int64_t& known = term.places[static_cast<size_t>(longest) - 1 + column - row];
      const int64_t place = places.integer(i) < 0 ? places.integer(i) + count : places.integer(i);
      if (place < 0 || place >= count || (known >= 0 && known != place))
        refuse("selects places otherwise than by distance");
      known = place;
    }
  }
  out.axes.back() = {kTokensAtom};
  out.reach.add(reach(node, 1));
  set(node, 0, std::move(out));
}

void Lowering::add_places(Scores& scores, const Value& places) const {
  for (const PlaceTerm& term : places.places) {
    if (term.places.empty()) refuse("adds products of places that no distances have selected");
    if (term.heads != scores.heads || term.width != scores.width || scores.kv_heads != scores.heads) {
      refuse("adds scores of places of other heads");
    }
    const bool same = term.block == (term.turned ? scores.keys : scores.queries);
    if (!same || scores.turn != nullptr) refuse("adds scores of places to those of other queries and keys");
    scores.places.push_back(term);
  }
  scores.reach.add(places.reach);
}

/// The position terms by key - query. Longer texts may show further positions.
std::shared_ptr<const Places> Lowering::places_of(const Scores& scores) {
  if (scores.places.empty()) return nullptr;
  auto out = std::make_shared<Places>();
  int64_t longest = 1, farthest = 0;
  for (const Probe& probe : probes_) longest = std::max(longest, probe.extents.tokens);
  for (PlaceTerm term : scores.places) {
    std::optional<PlaceTerm>& to = term.turned ? out->queries : out->keys;
    if (to) refuse("adds scores of places twice");
    if (term.turned) std::reverse(term.places.begin(), term.places.end());
    for (int64_t d = 1; d < longest; ++d) {
      const auto at = [&](int64_t distance) { return term.places[static_cast<size_t>(longest - 1 + distance)]; };
      if (at(d) != at(longest - 1) || at(-d) != at(1 - longest)) farthest = d + 1;
    }
    to = std::move(term);
  }
  want(scores.reach);
  constexpr int64_t kUsualReach = 256;
  if (2 * farthest > longest - 2) want({std::max(kUsualReach, 2 * longest)});
  return out;
}

/// Returns true if the probabilities that are set to 0 belong only to masked scores or to padding queries.
bool Lowering::hides_nothing_more(const Value& scores, const std::vector<HostTensor>& hidden) const {
  const Scores& of = *scores.scores;
  if (of.added.empty()) return false;
  for (size_t p = 0; p < probes_.size(); ++p) {
    const Extents now = extents(p);
    const std::vector<int64_t> whole = dims(scores.axes, now);
    if (whole.size() != 4 || broadcast_dims(hidden[p].dims, whole) != whole) return false;
    // Most masks are the same for all heads.
    const auto heads_of = [](const HostTensor& mask) {
      return mask.dims.size() < 3 ? 1 : mask.dims[mask.dims.size() - 3];
    };
    const int64_t heads = std::max(heads_of(hidden[p]), heads_of(of.added[p]));
    const std::vector<int64_t> apart = {now.batch, heads, now.tokens, now.tokens};
    const HostTensor gone = broadcast(hidden[p], apart), added = broadcast(of.added[p], apart);
    const auto tokens = static_cast<size_t>(now.tokens), each = tokens * tokens * static_cast<size_t>(heads);
    for (size_t i = 0; i < gone.size(); ++i) {
      const bool there = probes_[p].mask[i / each * tokens + i / tokens % tokens] != 0;
      if (gone.at(i) != 0 && there && added.at(i) > kHidden) return false;
    }
  }
  return true;
}

}  // namespace bantam::convert::onnx
