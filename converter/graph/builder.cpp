#include "graph/builder.h"

#include <cmath>
#include <utility>

#include "base/fail.h"
#include "graph/rows.h"
#include "model/limits.h"
#include "ops/more/linear_attention.h"

namespace bantam::convert {
namespace {

fb::Dim fixed(uint32_t value) { return {-1, 0, static_cast<int32_t>(value), 1}; }
fb::Dim symbolic(int32_t symbol) { return {symbol, 1, 0, 1}; }

template <typename Attributes>
Attributes& set_attributes(fb::OpT& op) {
  Attributes attributes;
  op.attributes.Set(std::move(attributes));
  return *static_cast<Attributes*>(op.attributes.value);
}

/// Called before anything is built: a configuration may request more than the limit at no cost in bytes, for instance
/// with a number of layers that share weights.
[[noreturn]] void fail_too_large(const char* what, uint32_t most) {
  fail(ExitCode::kUnsupported,
       "the model has more than {} {}, which is what a file may have; has its configuration the number of layers that "
       "it "
       "was trained with?",
       most, what);
}

}  // namespace

Builder::Builder(Graph& graph) : graph_(graph) {
  for (const fb::SymbolRole role : fb::EnumValuesSymbolRole()) {
    auto symbol = std::make_unique<fb::SymbolT>();
    symbol->name = fb::EnumNameSymbolRole(role);
    symbol->role = role;
    graph_.model.symbols.push_back(std::move(symbol));
  }
  auto subgraph = std::make_unique<fb::SubgraphT>();
  subgraph->name = "main";
  graph_.model.subgraphs.push_back(std::move(subgraph));
}

void Builder::enter(fb::Part part, int32_t layer) { tag_ = fb::Tag(layer, part, static_cast<uint8_t>(phase_), 0); }

int32_t Builder::constant(const std::string& name, const std::vector<uint32_t>& shape, Values values) {
  auto tensor = std::make_unique<fb::TensorT>();
  tensor->name = name;
  tensor->role = fb::Role::constant;
  for (uint32_t extent : shape) tensor->shape.push_back(fixed(extent));
  tensor->source = std::move(values.source);
  tensor->source_type = values.source_type;
  tensor->source_bytes = values.source_bytes;
  tensor->tag = std::make_unique<fb::Tag>(tag_);
  auto data = std::make_shared<Constant>();
  data->values = std::move(values.values);
  data->later = std::move(values.later);
  if (graph_.model.tensors.size() == kMaxTensors) fail_too_large("tensors", kMaxTensors);
  graph_.model.tensors.push_back(std::move(tensor));
  graph_.constants.push_back(std::move(data));
  return static_cast<int32_t>(graph_.constants.size() - 1);
}

int32_t Builder::vector(const std::string& name, Values values) {
  const auto width = static_cast<uint32_t>(values.values.size());
  return constant(name, {width}, std::move(values));
}

int32_t Builder::linear_weight(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
  const int32_t index = constant(name, {rows, columns}, std::move(values));
  graph_.constants[static_cast<size_t>(index)]->linear_weight = true;
  return index;
}

int32_t Builder::places(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
  const int32_t index = embedding(name, rows, columns, std::move(values));
  tie(index);
  return index;
}

int32_t Builder::embedding(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
  const int32_t index = constant(name, {rows, columns}, std::move(values));
  graph_.constants[static_cast<size_t>(index)]->embedding = true;
  return index;
}

int32_t Builder::table(const std::string& name, uint32_t rows, uint32_t columns, Values values) {
  return constant(name, {rows, columns}, std::move(values));
}

void Builder::tie(int32_t embedding) { graph_.constants[static_cast<size_t>(embedding)]->linear_weight = true; }

int32_t Builder::activation(const std::string& name, int32_t symbol, uint32_t width) {
  auto tensor = std::make_unique<fb::TensorT>();
  tensor->name = name;
  tensor->role = fb::Role::activation;
  tensor->shape = {symbolic(symbol), fixed(width)};
  graph_.model.tensors.push_back(std::move(tensor));
  graph_.constants.push_back(nullptr);
  return static_cast<int32_t>(graph_.constants.size() - 1);
}

uint32_t Builder::width(int32_t tensor) const {
  return static_cast<uint32_t>(graph_.model.tensors[static_cast<size_t>(tensor)]->shape.back().b());
}

const std::string& Builder::name(int32_t tensor) const {
  return graph_.model.tensors[static_cast<size_t>(tensor)]->name;
}

void Builder::multiply(int32_t index, float factor) {
  auto& constant = graph_.constants[static_cast<size_t>(index)];
  hold_values(*constant);
  for (float& value : constant->values) value *= factor;
}

uint32_t Builder::rows(int32_t constant) const {
  return static_cast<uint32_t>(convert::rows(*graph_.model.tensors[static_cast<size_t>(constant)]));
}

std::vector<float> Builder::take_row(int32_t index, uint32_t row) {
  hold_values(*graph_.constants[static_cast<size_t>(index)]);
  auto& values = graph_.constants[static_cast<size_t>(index)]->values;
  const uint32_t columns = width(index);
  if (values.size() < (size_t{row} + 1) * columns) return {};
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(size_t{row} * columns);
  std::vector<float> taken(begin, begin + static_cast<std::ptrdiff_t>(columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] -= taken[i % columns];
  return taken;
}

bool Builder::holds(int32_t constant, const Values& values) const {
  const Constant& held = *graph_.constants[static_cast<size_t>(constant)];
  if (held.later == nullptr && values.later == nullptr) return held.values == values.values;
  Constant other;
  other.values = values.values;
  other.later = values.later;
  return same_values(held, other);
}

int32_t Builder::rows_symbol(int32_t tensor) const {
  return graph_.model.tensors[static_cast<size_t>(tensor)]->shape.front().symbol();
}

fb::OpT& Builder::op(const std::string& name, std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
  auto added = std::make_unique<fb::OpT>();
  added->name = name;
  added->inputs = std::move(inputs);
  added->outputs = std::move(outputs);
  added->tag = std::make_unique<fb::Tag>(tag_);
  auto& ops = graph_.model.subgraphs.front()->ops;
  if (ops.size() == kMaxOps) fail_too_large("operators", kMaxOps);
  ops.push_back(std::move(added));
  return *ops.back();
}

int32_t Builder::embed(const std::string& name, const std::vector<EmbedSpec>& tables, const EpilogueSpec& epilogue) {
  const int32_t y = activation(name, kTokens, width(tables.front().table));
  fb::OpT& added = op(name, {}, {y, kAbsent});
  auto& attributes = set_attributes<fb::EmbedT>(added);
  for (const EmbedSpec& spec : tables) {
    auto table = std::make_unique<fb::EmbedTableT>();
    table->source = spec.source;
    table->scale = spec.scale;
    table->offset = spec.offset;
    name_input(added, table->tensor, spec.table);
    attributes.tables.push_back(std::move(table));
  }
  set_epilogue(added, epilogue);
  return y;
}

int32_t Builder::linear(const std::string& name, int32_t x, int32_t weight, int32_t bias,
                        const EpilogueSpec& epilogue) {
  const auto rows = static_cast<uint32_t>(graph_.model.tensors[static_cast<size_t>(weight)]->shape.front().b());
  const int32_t y = activation(name, rows_symbol(x), rows);
  fb::OpT& added = op(name, {x, weight, bias}, {y, kAbsent});
  set_attributes<fb::LinearT>(added);
  set_epilogue(added, epilogue);
  return y;
}

int32_t Builder::part_of_heads(const std::string& name, int32_t x, fb::Layout layout, uint32_t heads,
                               uint32_t head_width) {
  const int32_t part = activation(name, rows_symbol(x), heads * head_width);
  graph_.model.tensors.back()->layout = layout;
  graph_.model.tensors.back()->heads = heads;
  return part;
}

fb::SplitHeadsT& Builder::split(const std::string& name, int32_t x, const Heads& heads, uint32_t head_width) {
  const auto count = [&](int32_t t) { return t < 0 ? 0 : graph_.model.tensors[static_cast<size_t>(t)]->heads; };
  auto& attributes = set_attributes<fb::SplitHeadsT>(op(name, {x}, {heads.q, heads.k, heads.v}));
  attributes.heads = count(heads.q);
  attributes.kv_heads = count(heads.k);
  attributes.head_width = head_width;
  return attributes;
}

Heads Builder::split_heads(const std::string& name, int32_t x, uint32_t heads, uint32_t kv_heads,
                           const TurnSpec& turn) {
  const uint32_t head_width = width(x) / (heads + 2 * kv_heads);
  Heads out;
  out.q = part_of_heads(name + ".query", x, fb::Layout::rows, heads, head_width);
  out.k = part_of_heads(name + ".key", x, fb::Layout::key_pages, kv_heads, head_width);
  out.v = part_of_heads(name + ".value", x, fb::Layout::value_pages, kv_heads, head_width);
  fb::SplitHeadsT& attributes = split(name, x, out, head_width);
  fb::OpT& added = *graph_.model.subgraphs.front()->ops.back();
  name_input(added, attributes.rotary, turn.rotary);
  name_input(added, attributes.norms, turn.norms);
  if (turn.norms >= 0) {
    attributes.epsilon = turn.epsilon;
    attributes.each_head = turn.each_head;
    attributes.norm = turn.norm;
    attributes.norms_behind = turn.norms_behind && turn.rotary >= 0;
  }
  return out;
}

int32_t Builder::split_queries(const std::string& name, int32_t x, uint32_t heads) {
  const uint32_t head_width = width(x) / heads;
  Heads out;
  out.q = part_of_heads(name + ".query", x, fb::Layout::rows, heads, head_width);
  split(name, x, out, head_width);
  return out.q;
}

Heads Builder::split_keys(const std::string& name, int32_t x, uint32_t kv_heads) {
  const uint32_t head_width = width(x) / (2 * kv_heads);
  Heads out;
  out.k = part_of_heads(name + ".key", x, fb::Layout::key_pages, kv_heads, head_width);
  out.v = part_of_heads(name + ".value", x, fb::Layout::value_pages, kv_heads, head_width);
  split(name, x, out, head_width);
  return out;
}

Heads Builder::split_states(const std::string& name, int32_t x, uint32_t kv_heads) {
  const Heads out = split_keys(name, x, kv_heads);
  for (const int32_t part : {out.k, out.v}) {
    graph_.model.tensors[static_cast<size_t>(part)]->role = fb::Role::state;
  }
  return out;
}

int32_t Builder::attention(const std::string& name, const Heads& heads, const AttentionSpec& spec) {
  const uint32_t count = graph_.model.tensors[static_cast<size_t>(heads.q)]->heads;
  const uint32_t head_width = width(heads.q) / count;
  const int32_t y = activation(name, rows_symbol(heads.q), width(heads.q));
  fb::OpT& added = op(name, {heads.q, heads.k, heads.v}, {y, kAbsent});
  auto& attributes = set_attributes<fb::AttentionT>(added);
  attributes.heads = count;
  attributes.kv_heads = graph_.model.tensors[static_cast<size_t>(heads.k)]->heads;
  attributes.head_width = head_width;
  attributes.scale =
      spec.scale != 0 ? spec.scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_width)));
  attributes.cross = is_state(*graph_.model.tensors[static_cast<size_t>(heads.k)]);
  attributes.mask = spec.mask;
  attributes.window = spec.window;
  name_input(added, attributes.distance_bias, spec.distance_bias);
  name_input(added, attributes.slopes, spec.slopes);
  name_input(added, attributes.place_rows, spec.place_rows);
  name_input(added, attributes.place_keys, spec.place_keys);
  name_input(added, attributes.place_queries, spec.place_queries);
  attributes.shared_places = spec.shared_places;
  name_input(added, attributes.segment_keys, spec.segment_keys);
  attributes.soft_cap = spec.soft_cap;
  attributes.dilation = spec.dilation;
  attributes.block = spec.block;
  attributes.full_until = spec.full_until;
  attributes.random = spec.random;
  name_input(added, attributes.random_blocks, spec.random_blocks);
  name_input(added, attributes.sinks, spec.sinks);
  EpilogueSpec epilogue;
  epilogue.residual = spec.residual;
  set_epilogue(added, epilogue);
  return y;
}

namespace {

template <typename Attributes>
void set_sums(fb::OpT& op, const SumSpec& spec) {
  auto& attributes = set_attributes<Attributes>(op);
  attributes.kind = spec.kind;
  attributes.heads = spec.heads;
  attributes.features = spec.features;
  attributes.epsilon = spec.epsilon;
}

}  // namespace

int32_t Builder::key_sums(const std::string& name, int32_t x, const SumSpec& spec) {
  const ops::SumShape shape{spec.kind, spec.heads, spec.features, width(x) / (2 * spec.heads), spec.epsilon};
  const int32_t y = activation(name, kSequences, static_cast<uint32_t>(shape.all_floats()));
  set_sums<fb::KeySumsT>(op(name, {x, spec.matrix, spec.value_matrix}, {y}), spec);
  return y;
}

int32_t Builder::linear_attention(const std::string& name, int32_t q, int32_t sums, const SumSpec& spec) {
  const int32_t y = activation(name, rows_symbol(q), width(q));
  const int32_t features = spec.kind == fb::FeatureKind::places ? kAbsent : spec.matrix;
  fb::OpT& added = op(name, {q, sums, features}, {y, kAbsent});
  set_sums<fb::LinearAttentionT>(added, spec);
  set_epilogue(added, {});
  return y;
}

int32_t Builder::chunk_attention(const std::string& name, int32_t x, int32_t rotations,
                                 const fb::ChunkAttentionT& attributes) {
  const int32_t y = activation(name, rows_symbol(x), width(x) / (attributes.rounds != 0 ? 2 : 3));
  op(name, {x, rotations}, {y, kAbsent}).attributes.Set(fb::ChunkAttentionT(attributes));
  return y;
}

int32_t Builder::pool(const std::string& name, int32_t x, fb::PoolKind kind, bool l2, std::vector<uint32_t> skip_last) {
  fb::PoolT attributes;
  attributes.kind = kind;
  attributes.l2 = l2;
  attributes.skip_last = std::move(skip_last);
  return pool(name, x, attributes);
}

int32_t Builder::pool(const std::string& name, int32_t x, const fb::PoolT& attributes) {
  const int32_t y = activation(name, kSequences, width(x));
  set_attributes<fb::PoolT>(op(name, {x}, {y, kAbsent})) = attributes;
  return y;
}

void Builder::cut(const std::string& name, int32_t x, int32_t y, uint32_t begin, const EpilogueSpec* epilogue) {
  fb::OpT& added = op(name, {x}, {y, kAbsent});
  auto& attributes = set_attributes<fb::SliceT>(added);
  attributes.begin = begin;
  attributes.width = width(y);
  if (epilogue != nullptr) set_epilogue(added, *epilogue);
}

int32_t Builder::slice(const std::string& name, int32_t x, uint32_t begin, uint32_t columns,
                       const EpilogueSpec* epilogue) {
  const int32_t y = activation(name, rows_symbol(x), columns);
  cut(name, x, y, begin, epilogue);
  return y;
}

int32_t Builder::leave(const std::string& name, int32_t x) {
  const int32_t y = activation(name, rows_symbol(x), width(x));
  graph_.model.tensors.back()->role = fb::Role::state;
  cut(name, x, y, 0, nullptr);
  return y;
}

int32_t Builder::spread(const std::string& name, int32_t state) {
  const int32_t y = activation(name, kTokens, width(state));
  cut(name, state, y, 0, nullptr);
  return y;
}

int32_t Builder::crf(const std::string& name, int32_t x, int32_t transitions, int32_t members, uint32_t skip_first,
                     uint32_t skip_last) {
  const int32_t y = activation(name, rows_symbol(x), width(x));
  fb::OpT& added = op(name, {x, transitions, members}, {y});
  auto& attributes = set_attributes<fb::CrfT>(added);
  attributes.skip_first = skip_first;
  attributes.skip_last = skip_last;
  return y;
}

int32_t Builder::features(const std::string& name, uint32_t columns) {
  input("features", fb::InputKind::features, columns);
  const int32_t y = activation(name, kTokens, columns);
  set_attributes<fb::FeaturesT>(op(name, {}, {y, kAbsent}));
  return y;
}

int32_t Builder::unfold(const std::string& name, int32_t x, uint32_t before, uint32_t after) {
  const int32_t y = activation(name, rows_symbol(x), width(x) * (before + 1 + after));
  fb::OpT& added = op(name, {x}, {y, kAbsent});
  auto& attributes = set_attributes<fb::UnfoldT>(added);
  attributes.before = before;
  attributes.after = after;
  return y;
}

int32_t Builder::depthwise(const std::string& name, int32_t x, uint32_t before, uint32_t after, Values weights) {
  const uint32_t rows = before + 1 + after, columns = width(x), padded = (columns + 15) / 16 * 16;
  std::vector<float> apart(weights.values.empty() ? 0 : size_t{rows} * padded, 0.0F);
  for (size_t at = 0; at < weights.values.size(); ++at) {
    apart[at / columns * padded + at % columns] = weights.values[at];
  }
  weights.values = std::move(apart);
  const int32_t matrix = table(name + ".weight", rows, padded, std::move(weights));
  const int32_t y = activation(name, rows_symbol(x), columns);
  fb::OpT& added = op(name, {x, matrix}, {y, kAbsent});
  auto& attributes = set_attributes<fb::DepthwiseT>(added);
  attributes.before = before;
  attributes.after = after;
  return y;
}

int32_t Builder::depthwise_of_scores(const std::string& name, int32_t x, int32_t scores, uint32_t heads,
                                     uint32_t before, uint32_t after) {
  const int32_t y = activation(name, rows_symbol(x), width(x));
  fb::OpT& added = op(name, {x, scores}, {y, kAbsent});
  auto& attributes = set_attributes<fb::DepthwiseT>(added);
  attributes.before = before;
  attributes.after = after;
  attributes.heads = heads;
  return y;
}

int32_t Builder::short_convolution(const std::string& name, int32_t x, uint32_t before, Values weights,
                                   const EpilogueSpec& epilogue) {
  const int32_t y = depthwise(name, x, before, 0, std::move(weights));
  fb::OpT& added = *graph_.model.subgraphs.front()->ops.back();
  added.attributes.AsDepthwise()->latest = before != 0;
  set_epilogue(added, epilogue);
  return y;
}

int32_t Builder::fourier(const std::string& name, int32_t x, const EpilogueSpec& epilogue) {
  const int32_t y = activation(name, rows_symbol(x), width(x));
  fb::OpT& added = op(name, {x}, {y, kAbsent});
  set_attributes<fb::FourierT>(added);
  set_epilogue(added, epilogue);
  return y;
}

int32_t Builder::scan(const std::string& name, const ScanSpec& spec) {
  const int32_t y = activation(name, rows_symbol(spec.x), width(spec.x));
  std::vector<int32_t> inputs = {spec.x, spec.steps, spec.rates};
  if (spec.kind == fb::ScanKind::selective) inputs.insert(inputs.end(), {spec.in, spec.out, spec.skip});
  auto& attributes = set_attributes<fb::ScanT>(op(name, std::move(inputs), {y}));
  attributes.kind = spec.kind;
  attributes.states = rows(spec.rates);
  return y;
}

int32_t Builder::adaptive_softmax(const std::string& name, int32_t front, int32_t clusters,
                                  const std::vector<int32_t>& words) {
  std::vector<int32_t> inputs = {front, clusters};
  inputs.insert(inputs.end(), words.begin(), words.end());
  uint32_t columns = width(front);
  for (const int32_t of_cluster : words) columns += width(of_cluster);
  const int32_t y = activation(name, rows_symbol(front), columns);
  set_attributes<fb::AdaptiveSoftmaxT>(op(name, std::move(inputs), {y}));
  return y;
}

int32_t Builder::join(const std::string& name, int32_t a, int32_t b, const EpilogueSpec& epilogue) {
  const int32_t y = activation(name, rows_symbol(a), width(a) + width(b));
  fb::OpT& added = op(name, {a, b}, {y, kAbsent});
  set_attributes<fb::JoinT>(added);
  set_epilogue(added, epilogue);
  return y;
}

int32_t Builder::experts(const std::string& name, int32_t x, int32_t scores, const ExpertsSpec& spec,
                         const EpilogueSpec& epilogue) {
  const int32_t y = activation(name, rows_symbol(x), spec.outputs);
  fb::OpT& added = op(name, {x, scores, spec.up, spec.down, spec.capacity == 0 ? kAbsent : scores}, {y, kAbsent});
  auto& attributes = set_attributes<fb::ExpertsT>(added);
  attributes.experts = spec.experts;
  attributes.top = spec.top;
  attributes.outputs = spec.outputs;
  attributes.activation = spec.activation;
  attributes.gated = spec.gated;
  attributes.normalized = spec.normalized;
  attributes.capacity = spec.capacity;
  attributes.shares = spec.shares;
  attributes.choice_by_scores = spec.choice_by_scores;
  attributes.threshold = spec.threshold;
  attributes.limit = spec.limit;
  attributes.gate_added = spec.gate_added;
  attributes.scales_inputs = spec.scales_inputs;
  name_input(added, attributes.choice_bias, spec.choice_bias);
  name_input(added, attributes.up_bias, spec.up_bias);
  name_input(added, attributes.down_bias, spec.down_bias);
  set_epilogue(added, epilogue);
  return y;
}

int32_t Builder::recurrent(const std::string& name, fb::Cell cell, int32_t x,
                           const std::vector<RecurrentWeights>& weights, bool reverse, const RecurrentState& first,
                           RecurrentState* last, int32_t members, int32_t after, uint32_t mark) {
  const auto directions = static_cast<uint32_t>(weights.size());
  const uint32_t state = width(weights.front().weights);
  const int32_t projection = weights.front().projection;
  const uint32_t cells = projection >= 0 ? width(projection) : state;
  const int32_t y = activation(name, rows_symbol(x), directions * state);
  std::vector<int32_t> outputs = {y, kAbsent};
  if (last != nullptr) {
    last->state = activation(name + ".last", kSequences, directions * state);
    outputs.push_back(last->state);
    if (cell == fb::Cell::lstm) {
      last->cells = activation(name + ".last_cells", kSequences, directions * cells);
      outputs.push_back(last->cells);
    }
  }
  std::vector<int32_t> inputs = {x};
  for (size_t d = 0; d < 2; ++d) {
    const RecurrentWeights of = d < weights.size() ? weights[d] : RecurrentWeights{};
    inputs.insert(inputs.end(), {of.weights, of.bias, of.projection});
  }
  inputs.insert(inputs.end(), {first.state, first.cells, members});
  while (inputs.back() < 0) inputs.pop_back();
  auto& attributes = set_attributes<fb::RecurrentT>(op(name, std::move(inputs), std::move(outputs)));
  attributes.cell = cell;
  attributes.direction = directions == 2 ? fb::Direction::both
                         : reverse       ? fb::Direction::reverse
                                         : fb::Direction::forward;
  attributes.after = after;
  attributes.mark = mark;
  return y;
}

int32_t Builder::ssru(const std::string& name, int32_t x, uint32_t state) {
  const int32_t y = activation(name, rows_symbol(x), state);
  set_attributes<fb::RecurrentT>(op(name, {x}, {y, kAbsent})).cell = fb::Cell::ssru;
  return y;
}

int32_t Builder::numbers(const std::string& name, std::vector<int32_t> values) {
  fb::TensorT table;
  table.name = name;
  table.type = fb::DType::i32;
  table.shape = {fixed(static_cast<uint32_t>(values.size()))};
  const int32_t constant = add_tensor(graph_, std::move(table));
  auto stored = std::make_shared<Constant>();
  stored->numbers = std::move(values);
  graph_.constants[static_cast<size_t>(constant)] = std::move(stored);
  return constant;
}

int32_t Builder::tree(const std::string& name, int32_t x, std::vector<int32_t> nodes) {
  const int32_t constant = numbers(name + ".nodes", std::move(nodes));
  const int32_t y = activation(name, rows_symbol(x), width(x) / 2 + 1);
  set_attributes<fb::TreeT>(op(name, {x, constant}, {y}));
  return y;
}

int32_t Builder::previous(const std::string& name, uint32_t columns, int32_t first) {
  const int32_t y = activation(name, kTokens, columns);
  fb::OpT& added = op(name, {kAbsent, first}, {y, kAbsent});
  set_attributes<fb::PreviousT>(added);
  set_epilogue(added, {});
  return y;
}

void Builder::close(int32_t previous, int32_t x) {
  for (auto& op : main_subgraph(graph_).ops) {
    if (op->outputs.front() == previous) op->inputs.front() = x;
  }
}

RecurrentState Builder::recurrent_cell(const std::string& name, fb::Cell cell, int32_t x, int32_t s, int32_t before) {
  RecurrentState out;
  out.state = activation(name, rows_symbol(x), width(before));
  std::vector<int32_t> outputs = {out.state, kAbsent};
  if (cell == fb::Cell::lstm) {
    out.cells = activation(name + ".cells", rows_symbol(x), width(before));
    outputs.push_back(out.cells);
  }
  fb::OpT& added = op(name, {x, s, before}, std::move(outputs));
  set_attributes<fb::RecurrentCellT>(added).cell = cell;
  set_epilogue(added, {});
  return out;
}

int32_t Builder::align(const std::string& name, int32_t q, int32_t keys, int32_t values, int32_t energy,
                       const AlignSpec& spec) {
  const int32_t y = activation(name, rows_symbol(q), width(values));
  fb::OpT& added = op(name, {q, keys, values, energy, spec.centre}, {y, kAbsent});
  auto& attributes = set_attributes<fb::AlignT>(added);
  attributes.scale = spec.scale;
  attributes.place = spec.place;
  attributes.window = spec.window;
  set_epilogue(added, {});
  return y;
}

int32_t Builder::spans(const std::string& name, int32_t starts, int32_t ends, int32_t labels, uint32_t words,
                       uint32_t most_labels) {
  const int32_t y = activation(name, rows_symbol(starts), words * most_labels);
  auto& attributes = set_attributes<fb::SpansT>(op(name, {starts, ends, labels}, {y}));
  attributes.width = words;
  attributes.labels = most_labels;
  return y;
}

int32_t Builder::select(const std::string& name, int32_t scores, int32_t x, int32_t y, uint32_t rank, bool mean,
                        const EpilogueSpec& epilogue) {
  const int32_t out = activation(name, rows_symbol(x), width(x));
  fb::OpT& added = op(name, {scores, x, y}, {out, kAbsent});
  auto& attributes = set_attributes<fb::SelectT>(added);
  attributes.rank = rank;
  attributes.mean = mean;
  set_epilogue(added, epilogue);
  return out;
}

int32_t Builder::row(const std::string& name, int32_t x, const EpilogueSpec& epilogue) {
  const int32_t y = activation(name, rows_symbol(x), width(x));
  fb::OpT& added = op(name, {x}, {y, kAbsent});
  set_attributes<fb::RowT>(added);
  set_epilogue(added, epilogue);
  return y;
}

void Builder::globals(fb::GlobalTokens kind, int32_t separator) {
  graph_.model.globals = std::make_unique<fb::GlobalsT>();
  graph_.model.globals->kind = kind;
  graph_.model.globals->separator = separator;
}

void Builder::make_globals_only(int32_t rows) {
  for (const auto& op : main_subgraph(graph_).ops) {
    if (op->outputs.front() == rows) op->attributes.AsLinear()->only_globals = true;
  }
}

int32_t Builder::make_terms(int32_t scores, uint8_t saturations, bool sums) {
  for (const auto& op : main_subgraph(graph_).ops) {
    if (op->outputs.front() != scores) continue;
    const EpilogueSpec epilogue = epilogue_of(*op);
    const bool plain = epilogue.activation == fb::ActivationKind::none && epilogue.gate < 0 && epilogue.residual < 0 &&
                       epilogue.norm == fb::NormKind::none;
    if (op->attributes.type != fb::OpAttributes::Linear || !plain) return kAbsent;
    op->attributes.AsLinear()->saturations = saturations;
    op->attributes.AsLinear()->sum_terms = sums;
    fb::Dim& rows = graph_.model.tensors[static_cast<size_t>(scores)]->shape.front();
    rows = fb::Dim(kSequences, 1, 0, 1);
    return scores;
  }
  return kAbsent;
}

uint32_t Builder::output(const std::string& name, fb::OutputRole role, int32_t tensor, bool squeeze) {
  graph_.model.tensors[static_cast<size_t>(tensor)]->role = fb::Role::output;
  auto added = std::make_unique<fb::OutputT>();
  added->name = name;
  added->role = role;
  added->tensor = tensor;
  added->squeeze = squeeze;
  if (graph_.model.outputs.size() == kMaxOutputs) fail_too_large("outputs", kMaxOutputs);
  graph_.model.outputs.push_back(std::move(added));
  return static_cast<uint32_t>(graph_.model.outputs.size() - 1);
}

void Builder::input(const std::string& name, fb::InputKind kind, uint32_t limit) {
  auto added = std::make_unique<fb::InputT>();
  added->name = name;
  added->kind = kind;
  added->limit = limit;
  graph_.model.inputs.push_back(std::move(added));
}

}  // namespace bantam::convert
