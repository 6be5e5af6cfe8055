// Attention: products of queries and keys, operations on the scores, and products with values; also operators that
// compute a whole attention.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "onnx/lowering/lowering.h"

namespace bantam::convert::onnx {
namespace {

const Axis kTexts = {kBatchAtom};
const Axis kPlaces = {kTokensAtom};

}  // namespace

/// Returns the heads if the axes are [texts, heads, tokens, columns] (`turned`: columns before tokens), or the first
/// two merged.
std::optional<HeadAxes> Lowering::heads_of(const Axes& axes, bool turned) const {
  if (axes.size() < 3) return std::nullopt;
  const size_t last = axes.size() - 1;
  const Axis &columns = axes[turned ? last - 1 : last], &tokens = axes[turned ? last : last - 1];
  if (!(tokens == kPlaces) || columns.size() > 1) return std::nullopt;
  HeadAxes out;
  if (!columns.empty() && (columns[0].kind != Atom::Kind::kColumns || columns[0].step != 1)) return std::nullopt;
  out.width = columns.empty() ? 1 : columns[0].extent;
  const Axis front = flat({axes.begin(), axes.end() - 2});
  if (front.empty() || !(front[0] == kBatchAtom) || front.size() > 3) return std::nullopt;
  for (size_t i = 1; i < front.size(); ++i) {
    const bool repeats = front[i].step == 0;
    if (front[i].kind != Atom::Kind::kColumns) return std::nullopt;
    if (repeats ? i + 1 != front.size() : i != 1 || front[i].step != out.width) return std::nullopt;
    if (!repeats) out.kv_heads = front[i].extent;
    out.heads *= front[i].extent;
  }
  return out;
}

bool Lowering::read_attention(const Node& node) {
  if (read_places(node)) return true;
  const std::string& op = node.op;
  if (op == "Attention" && node.domain.empty()) return read_attention_operator(node), true;
  if (op == "MultiHeadAttention" && node.domain == "com.microsoft") return read_attention_operator(node), true;
  const bool merged = op == "Attention" || op == "QAttention";
  if (merged && node.domain == "com.microsoft") return read_merged_attention(node), true;
  if (op == "GroupQueryAttention" && node.domain == "com.microsoft") return read_grouped_attention(node), true;
  const auto is = [&](size_t i, Value::Kind k) { return kind(node, i) == k; };
  const bool product =
      (op == "MatMul" && node.domain.empty()) || (op == "FusedMatMul" && node.domain == "com.microsoft");
  const auto rows = [&](size_t i) { return is(i, Value::Kind::kRows) || is(i, Value::Kind::kTurned); };
  if (product && rows(0) && rows(1)) return read_scores(node), true;
  if (product && is(0, Value::Kind::kScores) && is(1, Value::Kind::kRows)) return read_context(node), true;
  if (!node.domain.empty()) return false;
  if (op == "IsNaN" && is(0, Value::Kind::kScores) && in(node, 0).scores->softmax) {
    Value out = in(node, 0);
    out.kind = Value::Kind::kWhere;
    return set(node, 0, std::move(out)), true;
  }
  if (op == "Where" && is(2, Value::Kind::kScores) && in(node, 2).scores->softmax && number_of(in(node, 1)) == 0.0) {
    const std::optional<std::vector<HostTensor>> hidden = host(in(node, 0));
    if (hidden && hides_nothing_more(in(node, 2), *hidden)) return set(node, 0, in(node, 2)), true;
  }
  if (op == "Where" && is(0, Value::Kind::kWhere) && is(2, Value::Kind::kScores))
    return set(node, 0, in(node, 2)), true;
  const bool scores = is(0, Value::Kind::kScores) || is(1, Value::Kind::kScores) || is(2, Value::Kind::kScores);
  if (!scores) return false;
  if (op == "Add" || op == "Mul" || op == "Div" || op == "Where" || op == "Sub" || op == "Max") {
    return read_scores_pair(node), true;
  }
  if (op == "Softmax") {
    Value out = in(node, 0);
    const auto rank = static_cast<int64_t>(out.axes.size());
    int64_t axis = node.integer("axis", model_.opset < 13 ? 1 : -1);
    if (axis < 0) axis += rank;
    if (axis != rank - 1) refuse("is not over keys");
    out.scores = std::make_shared<Scores>(*out.scores);
    if (out.scores->softmax) refuse("is of a softmax");
    out.scores->softmax = true;
    return set(node, 0, std::move(out)), true;
  }
  return false;
}

void Lowering::set_queries_keys(const Value& queries, const Value& keys, Scores& scores, double* by_queries,
                                double* by_keys) {
  std::shared_ptr<const Turn> of_keys;
  scores.queries = turned_rows(queries, by_queries, &scores.turn);
  scores.keys = turned_rows(keys, by_keys, &of_keys);
  const bool same = (scores.turn == nullptr) == (of_keys == nullptr);
  if (!same || (of_keys != nullptr && !(*of_keys == *scores.turn))) refuse("turns queries otherwise than keys");
}

void Lowering::read_scores(const Node& node) {
  const Value &q = in(node, 0), &k = in(node, 1);
  const bool turns = node.op == "FusedMatMul" && node.integer("transB", 0) != 0;
  if (node.op == "FusedMatMul" && node.integer("transA", 0) != 0) refuse("turns its queries");
  const auto of_q = heads_of(q.axes, false), of_k = heads_of(k.axes, !turns);
  if (!of_q || !of_k || of_q->kv_heads != of_q->heads || of_q->heads != of_k->heads || of_q->width != of_k->width) {
    refuse("multiplies rows that are not queries and keys of heads");
  }
  auto scores = std::make_shared<Scores>();
  double by_q = 1, by_k = 1;
  set_queries_keys(q, k, *scores, &by_q, &by_k);
  scores->heads = of_q->heads;
  scores->kv_heads = of_k->kv_heads;
  scores->width = of_q->width;
  scores->scale = by_q * by_k * double{node.number("alpha", 1)};
  Value out;
  out.kind = Value::Kind::kScores;
  out.axes = q.axes;
  out.axes.back() = kPlaces;
  out.scores = std::move(scores);
  set(node, 0, std::move(out));
}

void Lowering::add_to_scores(Scores& scores, const Axes& axes, const std::vector<HostTensor>& added, double factor,
                             const Reach& reach) const {
  scores.reach.add(reach);
  scores.added.resize(probes_.size());
  for (size_t p = 0; p < probes_.size(); ++p) {
    const Extents now = extents(p);
    const std::vector<int64_t> whole = dims(axes, now), heads = {now.batch, scores.heads, now.tokens, now.tokens};
    const bool fits = whole == heads || count_of(whole) == count_of(heads);
    if (!fits || broadcast_dims(added[p].dims, whole) != whole) {
      refuse("a mask does not fit");
    }
    // Keep the given size if its axes are texts, heads, queries and keys.
    HostTensor given = added[p];
    if (whole != heads) {
      given = broadcast(given, whole);
      given.dims = heads;
    }
    HostTensor& sum = scores.added[p];
    const std::vector<int64_t> both = broadcast_dims(sum.dims, given.dims);
    const HostTensor left = sum.size() == 0 ? sum : broadcast(sum, both), right = broadcast(given, both);
    std::vector<double> values;
    for (size_t i = 0; i < right.size(); ++i) {
      const double value = right.at(i) == 0 ? 0 : right.at(i) * factor;
      values.push_back(value + (left.size() == 0 ? 0 : left.at(i)));
    }
    sum = host_floats(both, std::move(values));
  }
}

/// Converts booleans of visible scores (`inverted`: of masked ones) to an additive mask.
std::vector<HostTensor> Lowering::mask_of_truths(const std::vector<HostTensor>& seen, bool inverted) const {
  std::vector<HostTensor> out;
  for (const HostTensor& truths : seen) {
    std::vector<double> values;
    for (size_t i = 0; i < truths.size(); ++i) {
      values.push_back((truths.at(i) != 0) != inverted ? 0 : -std::numeric_limits<double>::infinity());
    }
    out.push_back(host_floats(truths.dims, std::move(values)));
  }
  return out;
}

void Lowering::read_scores_pair(const Node& node) {
  size_t i = 0;
  while (kind(node, i) != Value::Kind::kScores) ++i;
  Value out = in(node, i);
  out.scores = std::make_shared<Scores>(*out.scores);
  if (out.scores->softmax) refuse("changes what the softmax gives");
  if (node.op == "Where") {
    const std::optional<std::vector<HostTensor>> condition = host(in(node, 0));
    const std::optional<double> filler = number_of(in(node, i == 1 ? 2 : 1));
    if (i == 0 || !condition || !filler || *filler > -1000)
      refuse("puts something else than a small number in the place of scores");
    add_to_scores(*out.scores, out.axes, mask_of_truths(*condition, i == 2), 1, reach(node, 0));
    return set(node, 0, std::move(out));
  }
  const Value& other = in(node, 1 - i);
  const std::optional<double> number = number_of(other);
  const std::optional<std::vector<HostTensor>> tensors = host(other);
  if (number && (node.op == "Mul" || (node.op == "Div" && i == 0))) {
    const double by = node.op == "Mul" ? *number : 1 / *number;
    out.scores->scale *= by;
    for (HostTensor& added : out.scores->added) {
      for (double& value : added.floats) value = value == 0 ? 0 : value * by;
    }
  } else if (node.op == "Add" && tensors) {
    add_to_scores(*out.scores, out.axes, *tensors, 1, reach(node, 1 - i));
  } else if (node.op == "Sub" && i == 0 && tensors) {
    add_to_scores(*out.scores, out.axes, *tensors, -1, reach(node, 1));
  } else if (node.op == "Max" && number && *number < -1e30) {
    // It only removes infinities.
  } else {
    refuse("does something to scores that is neither a scale nor a mask");
  }
  set(node, 0, std::move(out));
}

/// Norms that come directly before both queries and keys become part of the attention: of each head, or of all columns.
void Lowering::take_norms(Block& block) const {
  const auto norm = [&](size_t i) {
    const Block& made = at(block.inputs[i]);
    return made.kind == Block::Kind::kStage && made.stage.kind == Stage::Kind::kNorm ? &made.stage : nullptr;
  };
  const Stage *queries = norm(0), *keys = norm(1);
  if (queries == nullptr || keys == nullptr || queries->norm != keys->norm || queries->epsilon != keys->epsilon) return;
  const auto columns = [&](const Stage& stage, size_t i) {
    return stage.group != 0 ? stage.group : at(block.inputs[i]).columns;
  };
  const bool each = columns(*queries, 0) == block.head_width && columns(*keys, 1) == block.head_width;
  if (!each && (queries->group != 0 || keys->group != 0)) return;
  block.norms = std::make_shared<const HeadNorms>(HeadNorms{*queries, *keys, each});
  for (const size_t i : {size_t{0}, size_t{1}}) block.inputs[i] = at(block.inputs[i]).inputs[0];
}

int32_t Lowering::attention(const Node& node, const Scores& scores, int32_t values) {
  Block block;
  block.kind = Block::Kind::kAttention;
  block.name = node.name;
  block.inputs = {scores.queries, scores.keys, values};
  block.columns = static_cast<uint32_t>(scores.heads * scores.width);
  block.heads = static_cast<uint32_t>(scores.heads);
  block.head_width = static_cast<uint32_t>(scores.width);
  block.kv_heads = static_cast<uint32_t>(scores.kv_heads);
  block.scale = scores.scale;
  block.turn = scores.turn;
  for (const int32_t input : block.inputs) {
    const uint32_t columns = (input == scores.queries ? block.heads : block.kv_heads) * block.head_width;
    if (at(input).columns != columns || !at(input).of_tokens) refuse("its heads are not all columns of its rows");
  }
  if (!scores.added.empty()) {
    const std::optional<Mask> mask = recognise_mask(probes_, scores.added, scores.heads);
    if (!mask) {
      refuse("what is added to its scores is none of: padding, causal, a window, a bias by distance");
    }
    want(scores.reach);
    // Longer distances may have other biases.
    int64_t longest = 0;
    for (const Probe& probe : probes_) longest = std::max(longest, probe.extents.tokens);
    constexpr int64_t kUsualReach = 256;  // twice the distance from which on models use one bias
    if (!mask->biases.empty() && mask->slopes.empty() && 2 * mask->farthest > longest - 2) {
      want({std::max(kUsualReach, 2 * longest)});
    }
    block.biases = mask->biases;
    block.slopes = mask->slopes;
    block.mask = mask->kind;
    block.window = mask->window;
  }
  block.places = places_of(scores);
  take_norms(block);
  return add(std::move(block));
}

void Lowering::read_context(const Node& node) {
  const Value &p = in(node, 0), &v = in(node, 1);
  if (!p.scores->softmax) refuse("multiplies scores without a softmax");
  const auto heads = heads_of(v.axes, false);
  if (!heads || heads->heads != p.scores->heads || heads->kv_heads != p.scores->kv_heads ||
      heads->width != p.scores->width) {
    refuse("multiplies probabilities with rows that are not values of as many heads");
  }
  const int32_t y = attention(node, *p.scores, block_of(v));
  Axes axes = v.axes;
  // If heads share keys and values, each query head has its own output row.
  if (heads->kv_heads != heads->heads) axes[axes.size() - 3] = {columns_atom(heads->heads, heads->width)};
  if (heads->kv_heads != heads->heads && axes.size() != 4)
    refuse("shares heads of texts that have no axis of their own");
  set(node, 0, rows_of(y, std::move(axes)));
}

/// Attention of opset 23, and MultiHeadAttention of ONNX Runtime.
void Lowering::read_attention_operator(const Node& node) {
  const bool multi = node.op == "MultiHeadAttention";
  Value q = in(node, 0), k = in(node, 1), v = in(node, 2);
  for (const Value* x : {&q, &k, &v}) {
    const bool rows = x->kind == Value::Kind::kRows || (x != &v && x->kind == Value::Kind::kTurned);
    if (!rows) refuse("its queries, keys and values are not rows of their own");
  }
  int64_t heads = multi ? node.integer("num_heads", 0) : node.integer("q_num_heads", 0);
  const bool four = v.axes.size() == 4;
  Scores scores;
  double by_q = 1, by_k = 1;
  set_queries_keys(q, k, scores, &by_q, &by_k);
  int32_t values = block_of(v);
  int64_t kv_heads = 0;
  if (four) {
    const auto of_q = heads_of(q.axes, false), of_k = heads_of(k.axes, false), of_v = heads_of(v.axes, false);
    const bool fits = of_q && of_k && of_v && of_q->heads == of_q->kv_heads && of_k->kv_heads == of_v->kv_heads &&
                      of_k->heads == of_v->heads && of_q->heads % of_k->heads == 0 && of_q->width == of_k->width &&
                      of_q->width == of_v->width;
    // If keys and values are already shared, further sharing by the operator would use another order of heads.
    if (!fits || (of_k->heads != of_q->heads && of_k->heads != of_k->kv_heads)) {
      refuse("its heads are not parts of columns, in their order");
    }
    heads = of_q->heads;
    kv_heads = of_k->kv_heads;
  }
  const auto columns = static_cast<int64_t>(at(scores.queries).columns);
  if (heads < 1 || columns % heads != 0) refuse("its heads do not divide its columns");
  if (!four) kv_heads = multi ? heads : node.integer("kv_num_heads", heads);
  if (kv_heads < 1 || heads % kv_heads != 0) refuse("its keys' heads do not divide its heads");
  scores.kv_heads = kv_heads;
  scores.heads = heads;
  scores.width = columns / heads;
  scores.scale =
      by_q * by_k * double{node.number("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(scores.width))))};
  if (node.number("softcap", 0) != 0) refuse("caps its scores");
  for (size_t i = multi ? 6 : 4; i < (multi ? 8 : 6); ++i) {
    if (there(node, i) && !is_empty(node, i)) refuse("has states of tokens before");
  }
  if (multi && there(node, 3)) {
    const std::shared_ptr<const HostTensor> bias = constant_of(in(node, 3));
    if (bias == nullptr || static_cast<int64_t>(bias->size()) != 3 * columns) refuse("its bias does not fit");
    const auto part = [&](int64_t i) {
      Value one;
      one.kind = Value::Kind::kConstant;
      one.constant.name = fmt::format("{}.{}", in(node, 3).constant.name, i);
      const auto from = bias->floats.begin() + static_cast<ptrdiff_t>(i * columns);
      one.constant.folded =
          std::make_shared<const HostTensor>(host_floats({columns}, {from, from + static_cast<ptrdiff_t>(columns)}));
      return one;
    };
    scores.queries = biased(node, scores.queries, part(0));
    scores.keys = biased(node, scores.keys, part(1));
    values = biased(node, values, part(2));
  }
  const Axes axes = {kTexts, columns == 1 ? Axis{} : Axis{columns_atom(heads, scores.width)}, kPlaces, kPlaces};
  const size_t mask = multi ? 5 : 3;
  if (there(node, mask)) {
    const std::optional<std::vector<HostTensor>> given = host(in(node, mask));
    if (!given) refuse("its mask depends on what the model computes");
    add_to_scores(scores, axes, given->front().whole ? mask_of_truths(*given, false) : *given, 1, reach(node, mask));
  }
  if (multi && there(node, 4)) {
    std::optional<std::vector<HostTensor>> given = host(in(node, 4));
    if (!given) refuse("its mask depends on what the model computes");
    for (size_t p = 0; p < probes_.size(); ++p) {
      if ((*given)[p].dims.size() == 2) (*given)[p].dims = {extents(p).batch, 1, 1, extents(p).tokens};
    }
    add_to_scores(scores, axes, mask_of_truths(*given, false), 1, reach(node, 4));
  }
  if (node.integer("is_causal", 0) != 0 || node.integer("unidirectional", 0) != 0) {
    add_to_scores(scores, axes, mask_of_truths(causal_mask(0), false), 1, {});
  }
  set(node, 0, rows_of(attention(node, scores, values), q.axes));
}

/// Booleans of the tokens that each token sees: itself and the earlier ones, in total the last `window`; 0: all.
std::vector<HostTensor> Lowering::causal_mask(int64_t window) const {
  std::vector<HostTensor> out;
  for (const Probe& probe : probes_) {
    HostTensor seen = host_integers({});
    const int64_t tokens = probe.extents.tokens;
    for (int64_t i = 0; i < tokens * tokens; ++i) {
      const int64_t behind = i / tokens - i % tokens;
      seen.ints.push_back(behind >= 0 && (window == 0 || behind < window) ? 1 : 0);
    }
    seen.dims = {tokens, tokens};
    out.push_back(std::move(seen));
  }
  return out;
}

/// GroupQueryAttention of ONNX Runtime, which is causal. Padding is at the end, where no token sees it.
void Lowering::read_grouped_attention(const Node& node) {
  const int64_t heads = node.integer("num_heads", 0), kv_heads = node.integer("kv_num_heads", 0);
  if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0) refuse("its keys' heads do not divide its heads");
  for (const size_t i : {size_t{3}, size_t{4}}) {
    if (there(node, i) && !is_empty(node, i)) refuse("has states of tokens before");
  }
  for (size_t i = 9; i < node.inputs.size(); ++i) {
    if (there(node, i)) refuse("has places, biases or sinks of scores of its own");
  }
  if (node.number("softcap", 0) != 0 || node.integer("smooth_softmax", 0) > 0) refuse("caps or smooths its scores");
  std::optional<std::vector<HostTensor>> last = host(in(node, 5));
  if (!last) refuse("its lengths depend on what the model computes");
  for (HostTensor& tensor : *last) {
    for (int64_t& length : tensor.ints) ++length;
  }
  if (!is_count(probes_, *last)) refuse("its lengths are not those of the texts");
  Value q = in(node, 0), k = in(node, 1), v = in(node, 2);
  if (!there(node, 1)) {
    if (q.kind != Value::Kind::kRows) refuse("its queries, keys and values are not rows");
    const int32_t all = block_of(q);
    const int64_t parts = heads + 2 * kv_heads, columns = at(all).columns, width = columns / parts;
    if (columns % parts != 0) refuse("its heads do not divide its columns");
    const auto part = [&](int64_t first, int64_t count) {
      const int32_t block =
          sliced(node, all, static_cast<uint32_t>(first * width), static_cast<uint32_t>(count * width));
      return rows_of(block, plain_axes(at(block)));
    };
    q = part(0, heads);
    k = part(heads, kv_heads);
    v = part(heads + kv_heads, kv_heads);
  }
  const bool rows = v.kind == Value::Kind::kRows && (q.kind == Value::Kind::kRows || q.kind == Value::Kind::kTurned) &&
                    q.kind == k.kind;
  if (!rows) refuse("its queries, keys and values are not rows");
  const int32_t values = block_of(v);
  const int64_t width = at(values).columns / kv_heads;
  if (node.integer("do_rotary", 0) != 0) {
    if (q.kind != Value::Kind::kRows || node.integer("rotary_interleaved", 0) != 0) refuse("turns neighbours");
    const auto turned = [&](Value x, int64_t count) {
      if (at(block_of(x)).columns != count * width) refuse("its heads do not divide its columns");
      x.axes = {kTexts, kPlaces, count == 1 ? Axis{} : Axis{columns_atom(count, width)}, {columns_atom(width)}};
      return turned_heads(node, x, 7);
    };
    q = turned(q, heads);
    k = turned(k, kv_heads);
  }
  Scores scores;
  double by_q = 1, by_k = 1;
  set_queries_keys(q, k, scores, &by_q, &by_k);
  const bool fits = at(scores.queries).columns == heads * width && at(scores.keys).columns == kv_heads * width &&
                    at(values).columns == kv_heads * width;
  if (!fits) refuse("its heads do not divide its columns");
  scores.heads = heads;
  scores.kv_heads = kv_heads;
  scores.width = width;
  const auto scale = double{node.number("scale", 0)};
  scores.scale = by_q * by_k * (scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(width)));
  const Axes axes = {kTexts, heads == 1 ? Axis{} : Axis{columns_atom(heads, width)}, kPlaces, kPlaces};
  const int64_t window = std::max<int64_t>(node.integer("local_window_size", -1), 0);
  Reach far;
  far.farthest = window;
  add_to_scores(scores, axes, mask_of_truths(causal_mask(window), false), 1, far);
  const int32_t out = attention(node, scores, values);
  set(node, 0, rows_of(out, plain_axes(at(out))));
}

/// Attention of ONNX Runtime: one matrix for queries, keys and values, which is quantized in QAttention.
void Lowering::read_merged_attention(const Node& node) {
  const Value& x = in(node, 0);
  const int64_t heads = node.integer("num_heads", 0);
  if (x.kind != Value::Kind::kRows || kind(node, 1) != Value::Kind::kConstant) refuse("its matrix is not a constant");
  const bool integers = node.op == "QAttention";
  if (integers ? there(node, 8) : (there(node, 4) && !is_empty(node, 4)) || there(node, 5)) {
    refuse("has states of tokens before, or biases of scores");
  }
  Parameter matrix = in(node, 1).constant;
  if (integers) {
    if (!x.quantised || !matrix.is_integer()) refuse("its rows or its matrix does not hold integers");
    matrix.scale = constant_of(in(node, 4));
    matrix.zero = there(node, 7) ? constant_of(in(node, 7)) : nullptr;
    if (matrix.scale == nullptr) refuse("its scale is not a constant");
    matrix.axis = matrix.scale->size() == 1 || matrix.turned ? 0 : 1;
  }
  const int32_t rows = block_of(x);
  int32_t all = linear(node, rows, std::move(matrix));
  if (there(node, 2)) all = biased(node, all, in(node, 2));
  const uint32_t columns = at(all).columns / 3;
  if (heads < 1 || at(all).columns % 3 != 0 || columns % heads != 0) refuse("its heads do not divide its columns");
  int32_t parts[3];
  for (uint32_t i = 0; i < 3; ++i) {
    Block part;
    part.kind = Block::Kind::kSlice;
    part.inputs = {all};
    part.begin = i * columns;
    part.columns = columns;
    parts[i] = add(std::move(part));
  }
  Scores scores;
  scores.queries = parts[0];
  scores.keys = parts[1];
  scores.heads = scores.kv_heads = heads;
  scores.width = columns / heads;
  scores.scale = node.has("scale") && node.number("scale", 0) != 0 ? double{node.number("scale", 0)}
                                                                   : 1 / std::sqrt(static_cast<double>(scores.width));
  const Axes axes = {kTexts, heads == 1 ? Axis{} : Axis{columns_atom(heads, scores.width)}, kPlaces, kPlaces};
  const size_t hides = integers ? 5 : 3;
  if (there(node, hides)) {
    std::optional<std::vector<HostTensor>> mask = host(in(node, hides));
    if (!mask) refuse("its mask depends on what the model computes");
    // The mask is given as lengths of texts, or per key.
    if (!is_count(probes_, *mask)) {
      for (size_t p = 0; p < probes_.size(); ++p) {
        if ((*mask)[p].dims.size() == 2) (*mask)[p].dims = {extents(p).batch, 1, 1, extents(p).tokens};
      }
      add_to_scores(scores, axes, mask_of_truths(*mask, false), 1, reach(node, hides));
    }
  }
  if (node.integer("unidirectional", 0) != 0) refuse("is causal");
  const Axes as_rows = x.axes;
  set(node, 0, rows_of(attention(node, scores, parts[2]), as_rows));
}

}  // namespace bantam::convert::onnx
