#include "onnx/lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "onnx/inputs.h"
#include "onnx/run.h"

namespace bantam::convert::onnx {
namespace {

/// Larger constants are run only for operators that need their values.
constexpr uint64_t kLargeConstant = 1U << 16;
constexpr size_t kMostShown = 12;
/// Limit on the number of elements computed in total, which models stay far below.
constexpr uint64_t kMostRun = 1U << 27;
constexpr const char* kOfShapes = "what its shapes, masks and constants give";

uint64_t bytes_of(const HostTensor& tensor) { return tensor.size() * sizeof(double) + sizeof(HostTensor); }

}  // namespace

Lowering::Lowering(const Model& model, const Trial& trial) : model_(model), taken_(model.budget) {
  Problems problems;
  roles_ = input_roles(model, problems);
  int64_t batch = -1, tokens = -1;
  for (const Port& port : model.graph.inputs) {
    if (roles_.count(port.name) == 0 || port.dims.size() != 2) continue;
    batch = std::max(batch, port.dims[0]);
    tokens = std::max(tokens, port.dims[1]);
  }
  constexpr int64_t kMostFixed = 512;
  if (batch > 64 || tokens > kMostFixed) {
    problems.add(ExitCode::kUnsupported,
                 fmt::format("{}: its inputs are [{}, {}] and no others; export the model with dynamic axes",
                             model.path.string(), batch, tokens));
  }
  problems.raise();
  probes_ = make_probes(trial.one_text ? 1 : batch, tokens, trial.long_text);
  for (const auto& [name, role] : roles_) {
    Value value;
    value.kind = Value::Kind::kHost;
    for (const Probe& probe : probes_) {
      value.host.push_back(probe.input(role));
      if (role != InputRole::kMask || !trial.mask_hides) continue;
      for (int64_t& there : value.host.back().ints) there = 1 - there;
    }
    values_[name] = std::move(value);
  }
  for (const Port& port : model.graph.inputs) {
    const std::optional<int64_t> number = switch_value(port);
    if (!is_cache(port) && !number) continue;
    Value value;
    value.kind = Value::Kind::kHost;
    for (const Probe& probe : probes_) {
      const auto extent = [&port](size_t axis) { return std::max<int64_t>(port.dims[axis], 1); };
      value.host.push_back(number ? with_dims(host_integers({*number}), std::vector<int64_t>(port.dims.size(), 1))
                                  : host_floats({probe.extents.batch, extent(1), 0, extent(3)}, {}));
    }
    values_[port.name] = std::move(value);
  }
  for (const auto& [name, tensor] : model.graph.initializers) {
    Value value;
    value.kind = Value::Kind::kConstant;
    value.constant.name = name;
    value.constant.tensor = &tensor;
    values_[name] = std::move(value);
  }
}

bool Lowering::has_input(InputRole role) const {
  return std::any_of(roles_.begin(), roles_.end(), [&](const auto& input) { return input.second == role; });
}

bool Lowering::has_fixed_tokens() const {
  return std::all_of(probes_.begin(), probes_.end(),
                     [&](const Probe& probe) { return probe.extents.tokens == extents(0).tokens; });
}

void Lowering::run() {
  for (const Node& node : model_.graph.nodes) {
    for (const std::string& name : node.inputs) ++uses_[name];
  }
  for (const Port& port : model_.graph.outputs) {
    ++uses_[port.name];
    outputs_.insert(port.name);
  }
  for (const Node& node : model_.graph.nodes) {
    for (const std::string& name : node.outputs) reads_[name] = node.inputs;
    bool known = true;
    const bool branches = node.op == kBranches;  // one readable branch is enough
    for (size_t i = 0; i < node.inputs.size() && !branches; ++i) {
      known = known && (node.inputs[i].empty() || in(node, i).kind != Value::Kind::kNone);
    }
    std::string why = known ? "is not understood here" : "";
    if (known) {
      try {
        read(node);
        why = values_.count(node.output(0)) != 0 ? "" : why;
      } catch (const NotRead& reason) {
        for (const std::string& name : node.outputs) values_.erase(name);
        why = reason.why;
      } catch (const Error&) {
        throw;
      } catch (const std::exception& reason) {
        why = reason.what();
      }
    }
    for (const std::string& name : node.outputs) {
      if (name.empty() || values_.count(name) != 0) continue;
      values_[name] = Value{};
      if (!why.empty()) unread_[name] = {node.shown(), why};
    }
    for (const std::string& name : node.outputs) count_bytes(name);
    let_go(node);
  }
  // Collect the problems of nodes that the outputs need.
  std::set<std::string> seen;
  std::vector<std::string> open, problems;
  for (const Port& port : model_.graph.outputs) open.push_back(port.name);
  std::set<std::string> told;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    if (!seen.insert(name).second) continue;
    const auto value = values_.find(name);
    if (value == values_.end() || value->second.kind != Value::Kind::kNone) continue;
    const auto unread = unread_.find(name);
    if (unread != unread_.end() && told.insert(unread->second.node).second) {
      problems.push_back(fmt::format("{}: {}: {}", model_.path.string(), unread->second.node, unread->second.why));
    }
    const auto reads = reads_.find(name);
    if (reads != reads_.end()) open.insert(open.end(), reads->second.begin(), reads->second.end());
  }
  if (problems.empty()) return;
  std::sort(problems.begin(), problems.end());
  if (problems.size() > kMostShown) {
    const size_t more = problems.size() - kMostShown;
    problems.resize(kMostShown);
    problems.push_back(fmt::format("{}: and {} more nodes", model_.path.string(), more));
  }
  problems.push_back(
      fmt::format("{}: these parts of the graph are not converted; {} says what is. Convert the model's own "
                  "directory (config.json, "
                  "model.safetensors) where you have it",
                  model_.path.string(), model_.documented));
  throw Error(ExitCode::kUnsupported, problems);
}

/// Counts the bytes that are kept for each probe. Constants stay counted, because weights may be built from them.
void Lowering::count_bytes(const std::string& name) {
  const auto value = values_.find(name);
  if (value == values_.end()) return;
  uint64_t bytes = 0;
  for (const HostTensor& tensor : value->second.host) bytes += bytes_of(tensor);
  if (bytes != 0 && held_.emplace(name, bytes).second) taken_.take(bytes, kOfShapes);
  if (value->second.constant.folded != nullptr) taken_.take(bytes_of(*value->second.constant.folded), kOfShapes);
}

/// Frees the results of runs for values that no node reads any more.
void Lowering::let_go(const Node& node) {
  for (const std::string& name : node.inputs) {
    if (--uses_[name] != 0) continue;
    const auto value = values_.find(name);
    if (value == values_.end()) continue;
    value->second.host = {};
    const auto held = held_.find(name);
    if (held != held_.end()) {
      taken_.give_back(held->second);
      held_.erase(held);
    }
    value->second.constant.folded.reset();
    value->second.constant.blocked.reset();
    value->second.places = {};
    value->second.scores.reset();
    value->second.turned.reset();
  }
}

/// The reach of an evaluated value, or of a constant that the node reads.
Reach Lowering::reach(const Node& node, size_t i) const {
  const Value& value = in(node, i);
  if (value.kind != Value::Kind::kConstant) return value.reach;
  const std::shared_ptr<const HostTensor> constant = constant_of(value);
  return constant == nullptr ? Reach{} : reach_of(*constant, node.op, i);
}

/// Records that a conclusion depends on the texts that were run, which longer ones may contradict.
void Lowering::want(const Reach& reach) {
  int64_t longest = 0;
  for (const Probe& probe : probes_) longest = std::max(longest, probe.extents.tokens);
  const int64_t shows = std::min(reach.farthest + 2, reach.most);
  if (shows > longest) wanted_ = std::max(wanted_, shows);
}

void Lowering::read(const Node& node) {
  if (node.called.rfind("Flex", 0) == 0) {
    refuse(
        "is TensorFlow's own operator, which Keras' export(format=\"litert\") leaves there; write the file with "
        "tf.lite.TFLiteConverter.from_keras_model(model)");
  }
  if (!node.unread.empty()) refuse(node.unread);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    static const std::set<std::string> kMoves = {"Identity", "Cast",      "Reshape",  "Flatten",
                                                 "Squeeze",  "Unsqueeze", "Transpose"};
    const std::string& ending = in(node, i).ending;
    if (!ending.empty() && kMoves.count(node.op) == 0)
      refuse(fmt::format("reads what {} gives; that is left out where it stands last alone", ending));
  }
  if (node.op == kBranches) return read_branches(node);
  if (node.op == "Concat" && read_join_of_empty(node)) return;
  if (read_blocked(node)) return;
  if (read_repeated(node) || read_host(node)) return;
  if (read_fused(node)) return;
  if (read_turned(node)) return;
  if (read_attention(node)) return;
  if (read_pools(node)) return;
  if (read_products(node)) return;
  if (read_shape(node)) return;
  if (read_rows(node)) return;
  refuse(fmt::format("{} is not read here", node.called.empty() ? node.op : node.called));
}

bool Lowering::is_empty(const Node& node, size_t i) const {
  const Value& value = in(node, i);
  return value.kind == Value::Kind::kHost &&
         std::all_of(value.host.begin(), value.host.end(), [](const HostTensor& one) { return one.size() == 0; });
}

/// Reads a concatenation of rows and empty tensors, such as empty caches, without the latter.
bool Lowering::read_join_of_empty(const Node& node) {
  Node joined = node;
  joined.inputs.clear();
  bool rows = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (is_empty(node, i)) continue;
    joined.inputs.push_back(node.inputs[i]);
    rows = rows || (kind(node, i) != Value::Kind::kHost && kind(node, i) != Value::Kind::kConstant);
  }
  if (!rows || joined.inputs.size() == node.inputs.size()) return false;
  if (joined.inputs.size() == 1) {
    set(node, 0, in(joined, 0));
  } else {
    read(joined);
  }
  return true;
}

/// Takes the branch that a condition on shapes selects for every text.
void Lowering::read_branches(const Node& node) {
  if (kind(node, 0) == Value::Kind::kNone) {
    values_[node.output(0)] = Value{};  // the condition's own node reports the reason
    return;
  }
  const std::optional<double> condition = number_of(in(node, 0));
  if (!condition) refuse("its condition depends on more than shapes; export the model without branches");
  const size_t taken = *condition != 0 ? 1 : 2;
  reads_[node.output(0)] = {node.input(0), node.input(taken)};
  if (kind(node, taken) != Value::Kind::kNone) {
    set(node, 0, in(node, taken));
  } else {
    values_[node.output(0)] = Value{};  // the branch's own nodes report the reason
  }
}

void Lowering::refuse(const std::string& why) const { throw NotRead{why}; }

const Value& Lowering::in(const Node& node, size_t i) const {
  static const Value kNone;
  const auto found = values_.find(node.input(i));
  return found == values_.end() ? kNone : found->second;
}

Value::Kind Lowering::kind(const Node& node, size_t i) const { return in(node, i).kind; }

void Lowering::set(const Node& node, size_t output, Value value) {
  if (!node.output(output).empty()) values_[node.output(output)] = std::move(value);
}

std::shared_ptr<const HostTensor> Lowering::constant_of(const Value& value) const {
  return value.kind == Value::Kind::kConstant ? host_of(value.constant) : nullptr;
}

std::optional<std::vector<HostTensor>> Lowering::host(const Value& value) const {
  if (value.kind == Value::Kind::kHost) return value.host;
  const std::shared_ptr<const HostTensor> constant = constant_of(value);
  if (constant == nullptr || constant->size() > kLargeConstant) return std::nullopt;
  return std::vector<HostTensor>(probes_.size(), *constant);
}

/// A number that is the same for all texts.
std::optional<double> Lowering::number_of(const Value& value) const {
  const std::optional<std::vector<HostTensor>> tensors = host(value);
  if (!tensors) return std::nullopt;
  for (const HostTensor& tensor : *tensors) {
    if (tensor.size() != 1 || tensor.at(0) != tensors->front().at(0)) return std::nullopt;
  }
  return tensors->front().at(0);
}

/// One list per probe, from an input or from an attribute.
std::vector<std::vector<int64_t>> Lowering::lists(const Node& node, size_t input, const char* attribute) const {
  std::vector<std::vector<int64_t>> out;
  if (!there(node, input)) return std::vector<std::vector<int64_t>>(probes_.size(), node.integers(attribute));
  const std::optional<std::vector<HostTensor>> tensors = host(in(node, input));
  if (!tensors) refuse(fmt::format("its {} are not known", attribute));
  for (const HostTensor& tensor : *tensors) {
    out.emplace_back();
    for (size_t i = 0; i < tensor.size(); ++i) out.back().push_back(tensor.integer(i));
  }
  return out;
}

std::vector<int64_t> Lowering::list(const Node& node, size_t input, const char* attribute) const {
  const std::vector<std::vector<int64_t>> all = lists(node, input, attribute);
  for (const auto& one : all) {
    if (one != all.front()) refuse(fmt::format("its {} depend on the text", attribute));
  }
  return all.front();
}

std::vector<Extents> Lowering::all_extents() const {
  std::vector<Extents> out;
  for (const Probe& probe : probes_) out.push_back(probe.extents);
  return out;
}

/// Runs nodes that depend only on constants, shapes and inputs.
bool Lowering::read_host(const Node& node) {
  // Operators that compute position rows from large constants; the results are constants.
  static const std::set<std::string> kFolded = {"LayerNormalization",
                                                "MatMul",
                                                "MatMulInteger",
                                                "DynamicQuantizeLinear",
                                                "ReduceMean",
                                                "Add",
                                                "Sub",
                                                "Mul",
                                                "Div",
                                                "Pow",
                                                "Sqrt",
                                                "Cast"};
  bool all_constant = true, any = false, large = false;
  if (node.op == "Shape" && node.domain.empty()) {
    const Value& x = in(node, 0);
    const bool axes = x.kind == Value::Kind::kRows || x.kind == Value::Kind::kTurned ||
                      x.kind == Value::Kind::kScores || x.kind == Value::Kind::kPlaceScores ||
                      x.kind == Value::Kind::kWeights || x.kind == Value::Kind::kMaximum;
    if (!axes && !x.repeated) {
      any = true;
    } else {
      Value out;
      out.kind = Value::Kind::kHost;
      for (const Probe& probe : probes_) {
        HostTensor shaped = host_integers(axes ? dims(x.axes, probe.extents) : x.constant.dims());
        if (x.repeated) shaped.ints.at(0) *= probe.extents.batch;
        if (node.has("start") || node.has("end")) {
          const auto rank = static_cast<int64_t>(shaped.size());
          const auto place = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
          const int64_t from = place(node.integer("start", 0)), to = place(node.integer("end", rank));
          const auto begin = shaped.ints.begin();
          shaped = from < to ? host_integers({begin + static_cast<ptrdiff_t>(from), begin + static_cast<ptrdiff_t>(to)})
                             : host_integers({});
        }
        out.host.push_back(std::move(shaped));
      }
      set(node, 0, std::move(out));
      return true;
    }
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!there(node, i)) continue;
    const Value::Kind is = kind(node, i);
    if (is != Value::Kind::kConstant && is != Value::Kind::kHost) return false;
    all_constant = all_constant && is == Value::Kind::kConstant;
    any = true;
    if (is == Value::Kind::kConstant) {
      const Parameter& constant = in(node, i).constant;
      const bool blocked = constant.blocked != nullptr;
      const uint64_t elements = constant.tensor != nullptr ? constant.tensor->elements
                                : blocked ? static_cast<uint64_t>(constant.blocked->rows * constant.blocked->columns)
                                          : 0;
      // Large constants stay in the file, unless a position table is projected.
      if (elements > kLargeConstant && (elements > kMostHostElements || kFolded.count(node.op) == 0)) return false;
      large = large || elements > kLargeConstant;
      if (constant.tensor != nullptr && bytes_of(constant.tensor->type) == 0) refuse("its type is not read");
    }
  }
  if (large && !all_constant) return false;
  // 8-bit integers that are converted to floats keep their scales.
  const bool scales = node.op == "Cast" || node.op == "Mul" || node.op == "Sub";
  for (size_t i = 0; i < node.inputs.size() && scales; ++i) {
    if (is_large_integers(in(node, i))) return false;
  }
  // Quantized constants keep their integers; tables are looked up by tokens.
  if (node.op == "DequantizeLinear" || node.op == "QuantizeLinear" || (!any && !node.inputs.empty())) return false;
  const bool matrix = node.op == "Transpose" && kind(node, 0) == Value::Kind::kConstant;
  const bool lookup = node.op == "Gather" && !all_constant && kind(node, 0) == Value::Kind::kConstant &&
                      in(node, 0).constant.dims().size() == 2;
  const bool whole_table = lookup && in(node, 0).constant.is_integer() && in(node, 0).constant.tensor != nullptr &&
                           bytes_of(in(node, 0).constant.tensor->type) > 1;
  // Rows of a table for each query and key, which are biases by distance.
  bool pairs = lookup && kind(node, 1) == Value::Kind::kHost;
  for (size_t p = 0; p < probes_.size() && pairs; ++p) {
    const std::vector<int64_t>& shape = in(node, 1).host[p].dims;
    const int64_t tokens = extents(p).tokens;
    pairs = shape.size() >= 2 && shape[shape.size() - 1] == tokens && shape[shape.size() - 2] == tokens;
  }
  const bool places = node.op == "Slice" && !all_constant && kind(node, 0) == Value::Kind::kConstant &&
                      (in(node, 0).constant.dims().size() == 2 || is_added_alone(node.output(0))) &&
                      (!in(node, 0).constant.is_integer() || in(node, 0).constant.scale != nullptr);
  if (matrix || places || (lookup && !whole_table && !pairs)) return false;
  Reach reaches;
  for (size_t i = 0; i < node.inputs.size() && !all_constant; ++i) reaches.add(reach(node, i));
  const size_t runs = all_constant ? 1 : probes_.size();
  std::vector<std::vector<HostTensor>> made;
  Taken running(model_.budget);
  for (size_t p = 0; p < runs; ++p) {
    std::vector<std::shared_ptr<const HostTensor>> held;
    std::vector<const HostTensor*> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value& value = in(node, i);
      if (!there(node, i)) {
        inputs.push_back(nullptr);
      } else if (value.kind == Value::Kind::kHost) {
        inputs.push_back(&value.host[p]);
      } else {
        held.push_back(host_of(value.constant));
        inputs.push_back(held.back().get());
      }
    }
    made.push_back(run_node(node, inputs, model_.opset));
    if (made.back().empty()) return false;
    for (HostTensor& tensor : made.back()) {
      run_ += tensor.size() + 1;
      running.take(bytes_of(tensor), kOfShapes);
      // Round to f32 as the file's operators do, because rounding affects the buckets of distances.
      for (double& value : tensor.floats) {
        const bool finite = std::fabs(value) <= double{std::numeric_limits<float>::max()};
        value = finite ? double{static_cast<float>(value)} : std::isnan(value) ? value : std::copysign(HUGE_VAL, value);
      }
    }
    if (run_ > kMostRun) {
      throw Error(
          ExitCode::kUnsupported,
          fmt::format("{}: {}: what shapes and masks give is larger than in any model of texts; export the model with "
                      "dynamic axes",
                      model_.path.string(), node.shown()));
    }
  }
  for (size_t o = 0; o < made.front().size(); ++o) {
    Value value;
    if (all_constant) {
      value.kind = Value::Kind::kConstant;
      // The result of a node with one input keeps that input's name.
      value.constant.name = node.inputs.size() == 1 ? in(node, 0).constant.name : "";
      value.constant.folded = std::make_shared<const HostTensor>(std::move(made.front()[o]));
    } else {
      value.kind = Value::Kind::kHost;
      for (auto& outputs : made) value.host.push_back(std::move(outputs[o]));
      value.reach = reaches;
    }
    set(node, o, std::move(value));
  }
  return true;
}

Axes Lowering::plain_axes(const Block& block) const {
  Axes axes = {{kBatchAtom}};
  if (block.of_tokens) axes.push_back({kTokensAtom});
  axes.push_back(block.columns == 1 ? Axis{} : Axis{columns_atom(block.columns)});
  return axes;
}

int32_t Lowering::add(Block block) {
  if (block.columns == 0) refuse("makes rows of no columns");
  const size_t factors = block.stage.group == 0 ? block.columns : block.stage.group;
  for (const auto* numbers : {&block.stage.gamma, &block.stage.beta}) {
    if (!numbers->empty() && numbers->size() != factors) refuse("its factors have another size than its rows");
  }
  if (block.kind == Block::Kind::kEmbed) {
    const bool offset = block.index == fb::IndexSource::positions || block.index == fb::IndexSource::zero;
    if (!offset && block.first != 0) refuse("adds a number to ids or segments");
    if (static_cast<int64_t>(block.first) >= block.weight.dims()[0])
      refuse("looks up rows that its table does not have");
  }
  blocks_.push_back(std::move(block));
  return static_cast<int32_t>(blocks_.size() - 1);
}

Value Lowering::rows_of(int32_t block, Axes axes) {
  Value out;
  out.kind = Value::Kind::kRows;
  out.term = functions_.rows(block, at(block).columns);
  out.axes = std::move(axes);
  collapsed_[out.term] = block;
  return out;
}

/// Returns the block that computes a term's rows; adds it if necessary.
int32_t Lowering::collapse(int32_t term) {
  const auto found = collapsed_.find(term);
  if (found != collapsed_.end()) return found->second;
  const std::optional<std::vector<Stage>> stages = functions_.recognise(term);
  if (!stages) refuse("what stands in front of it, from row to row, is neither a known activation nor a known norm");
  int32_t block = functions_.base(term);
  for (Stage stage : *stages) {
    if (stage.group != 0 && stage.kind == Stage::Kind::kAffine) {  // repeat one group's numbers for all groups
      for (auto* numbers : {&stage.gamma, &stage.beta}) {
        const std::vector<float> one = *numbers;
        while (!one.empty() && numbers->size() < at(block).columns)
          numbers->insert(numbers->end(), one.begin(), one.end());
      }
      stage.gamma_name = stage.beta_name = "";
      stage.group = 0;
    }
    Block next;
    next.kind = Block::Kind::kStage;
    next.inputs = {block};
    next.columns = at(block).columns;
    next.of_tokens = at(block).of_tokens;
    next.stage = std::move(stage);
    block = add(std::move(next));
  }
  collapsed_[term] = block;
  return block;
}

/// The block of a value's rows, with the columns in their order.
int32_t Lowering::block_of(const Value& value) {
  if (value.kind != Value::Kind::kRows) refuse("an input is not a row of tokens or texts");
  return collapse(value.term);
}

int32_t Lowering::output(const std::string& name, bool* squeezed, std::string* ending) {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.kind != Value::Kind::kRows) return -1;
  const Value& value = found->second;
  *ending = value.ending;
  int32_t block = -1;
  try {
    block = collapse(value.term);
  } catch (const NotRead& reason) {
    throw Error(ExitCode::kUnsupported, fmt::format("{}: output \"{}\": {}", model_.path.string(), name, reason.why));
  }
  const Axes plain = plain_axes(at(block));
  *squeezed = false;
  if (value.axes == plain) return block;
  *squeezed = at(block).columns == 1 && value.axes.size() + 1 == plain.size();
  return *squeezed || flat(value.axes) == flat(plain) ? block : -1;
}

}  // namespace bantam::convert::onnx
