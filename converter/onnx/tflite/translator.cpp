#include "onnx/tflite/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "onnx/host_tensor.h"

namespace bantam::convert::tflite {
namespace {

using onnx::Node;
using onnx::Type;

template <typename T>
onnx::Tensor of_values(const std::string& name, Type type, std::vector<int64_t> dims, const std::vector<T>& values) {
  onnx::Tensor out;
  out.name = name;
  out.type = type;
  out.dims = std::move(dims);
  out.elements = values.size();
  out.owned =
      std::make_shared<const std::string>(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  out.bytes = *out.owned;
  return out;
}

bool is_passing(fl::BuiltinOperator code) {
  return code == fl::BuiltinOperator::DEQUANTIZE || code == fl::BuiltinOperator::QUANTIZE ||
         code == fl::BuiltinOperator::RESHAPE || code == fl::BuiltinOperator::SQUEEZE;
}

}  // namespace

Translator::Translator(const File& file, std::vector<std::string> roles, onnx::Model& model)
    : file_(file), roles_(std::move(roles)), model_(model) {
  roles_.resize(file.inputs.size());
  taken_.insert(roles_.begin(), roles_.end());
  // Reserve the names of outputs.
  taken_.insert("logits");
  taken_.insert(file.output_names.begin(), file.output_names.end());
  names_.resize(file.tensors.size());
  for (size_t i = 0; i < file.inputs.size(); ++i) names_[static_cast<size_t>(file.inputs[i])] = roles_[i];
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].empty()) continue;
    names_[i] = file.tensors[i].name;
    while (!taken_.insert(names_[i]).second) names_[i] += " #";
  }
  for (const Operation& op : file.operations) {
    for (const int32_t output : op.outputs) {
      if (output >= 0) writers_.emplace(output, &op);
    }
    const bool widens = op.code == fl::BuiltinOperator::DEQUANTIZE && op.inputs.size() == 1 && op.outputs.size() == 1 &&
                        op.inputs[0] >= 0 && op.outputs[0] >= 0 &&
                        file.tensors[static_cast<size_t>(op.inputs[0])].constant;
    if (widens) stored_[op.outputs[0]] = op.inputs[0];
  }
}

const Tensor& Translator::tensor(const Operation& op, size_t i) const {
  return file_.tensors[static_cast<size_t>(input(op, i))];
}

int32_t Translator::input(const Operation& op, size_t i) const {
  if (!there(op, i)) throw NotTranslated{fmt::format("has no input {}", i)};
  const auto stored = stored_.find(op.inputs[i]);
  return stored == stored_.end() ? op.inputs[i] : stored->second;
}

const Tensor& Translator::made(const Operation& op, size_t i) const {
  if (i >= op.outputs.size() || op.outputs[i] < 0) throw NotTranslated{fmt::format("has no output {}", i)};
  return file_.tensors[static_cast<size_t>(op.outputs[i])];
}

const std::string& Translator::out(const Operation& op, size_t i) const {
  made(op, i);
  return names_[static_cast<size_t>(op.outputs[i])];
}

const File* Translator::subgraph(int32_t index) const {
  const auto found = file_.subgraphs.find(index);
  return found == file_.subgraphs.end() ? nullptr : found->second.get();
}

const Operation* Translator::writer(int32_t tensor) const {
  const auto found = writers_.find(tensor);
  return found == writers_.end() ? nullptr : found->second;
}

std::string Translator::between(const Operation& op) {
  const std::string base = out(op);
  for (int i = 1;; ++i) {
    std::string name = fmt::format("{}.{}", base, i);
    if (taken_.insert(name).second) return name;
  }
}

Node& Translator::add(const Operation& op, const char* name, std::vector<std::string> inputs, std::string output) {
  Node node;
  node.op = name;
  node.called = op.called;
  // A fused operator's name lists the names of its parts; take the first.
  node.name = out(op).substr(0, out(op).find(';'));
  node.inputs = std::move(inputs);
  node.outputs = {std::move(output)};
  model_.graph.nodes.push_back(std::move(node));
  return model_.graph.nodes.back();
}

/// Stores a constant; if it has scales, followed by a node that dequantizes it.
std::string Translator::initializer(const Tensor& tensor, const std::string& name, std::vector<int64_t> dims,
                                    int64_t axis) {
  const auto known = constants_.find(name);
  if (known != constants_.end()) return known->second;
  onnx::Tensor stored;
  stored.name = name;
  stored.type = tensor.type;
  stored.dims = std::move(dims);
  stored.elements = tensor.elements;
  stored.bytes = tensor.bytes;
  stored.owned = tensor.owned;
  model_.graph.initializers.emplace(name, std::move(stored));
  std::string& value = constants_[name] = name;
  const bool numbers = !onnx::is_float(tensor.type) && !tensor.scales.empty() && tensor.type != Type::boolean;
  if (!numbers) return value;
  Node node;
  node.op = "DequantizeLinear";
  node.called = "the constant";
  node.name = name;
  const auto count = static_cast<int64_t>(tensor.scales.size());
  node.inputs = {name, constant(name + ".scale", count == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{count},
                                tensor.scales)};
  const bool zero = std::all_of(tensor.zeros.begin(), tensor.zeros.end(), [](int64_t z) { return z == 0; });
  if (!zero || tensor.type == Type::u8) node.inputs.push_back(constant(name + ".zero", tensor.zeros));
  node.attributes["axis"].i = axis;
  value = name + ".real";
  taken_.insert(value);
  node.outputs = {value};
  model_.graph.nodes.push_back(std::move(node));
  return value;
}

std::string Translator::in(const Operation& op, size_t i) {
  const Tensor& from = tensor(op, i);
  if (!from.unread.empty()) throw NotTranslated{fmt::format("\"{}\": {}", from.name, from.unread)};
  const std::string& name = names_[static_cast<size_t>(input(op, i))];
  if (from.constant) return initializer(from, name, from.dims, from.axis);
  if (from.variable) throw NotTranslated{fmt::format("reads the variable \"{}\"", from.name)};
  return name;
}

std::string Translator::reshaped(const Operation& op, size_t i, std::vector<int64_t> dims, int64_t axis) {
  in(op, i);  // checks the input
  const Tensor& from = tensor(op, i);
  uint64_t elements = 1;
  for (const int64_t extent : dims) elements *= static_cast<uint64_t>(extent);
  if (!from.constant || elements != from.elements || (from.scales.size() > 1 && from.axis != axis)) {
    throw NotTranslated{fmt::format("\"{}\" is not a constant of that shape", from.name)};
  }
  return initializer(from, names_[static_cast<size_t>(input(op, i))] + ".flat", std::move(dims), axis);
}

std::string Translator::constant(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& values) {
  std::string made = name;
  while (!taken_.insert(made).second) made += "'";
  model_.graph.initializers.emplace(made, of_values(made, Type::f32, std::move(dims), values));
  return made;
}

std::string Translator::constant(const std::string& name, const std::vector<int64_t>& values) {
  std::string made = name;
  while (!taken_.insert(made).second) made += "'";
  std::vector<int64_t> dims;
  if (values.size() != 1) dims = {static_cast<int64_t>(values.size())};
  model_.graph.initializers.emplace(made, of_values(made, Type::i64, std::move(dims), values));
  return made;
}

std::optional<std::vector<int64_t>> Translator::integers(const Operation& op, size_t i) const {
  const Tensor& from = tensor(op, i);
  constexpr uint64_t kMostIntegers = 1U << 16;
  if (!from.constant || onnx::is_float(from.type) || !from.unread.empty() || from.elements > kMostIntegers) {
    return std::nullopt;
  }
  onnx::Tensor stored;
  stored.type = from.type;
  stored.bytes = from.bytes;
  std::vector<int64_t> out;
  for (uint64_t k = 0; k < from.elements; ++k) out.push_back(static_cast<int64_t>(onnx::element(stored, k)));
  return out;
}

std::vector<int64_t> Translator::list(const Operation& op, size_t i, const char* what) const {
  std::optional<std::vector<int64_t>> found = integers(op, i);
  if (!found) throw NotTranslated{fmt::format("its {} are not constants", what)};
  return *std::move(found);
}

std::vector<float> Translator::numbers(const Operation& op, size_t i) const {
  const Tensor& from = tensor(op, i);
  constexpr uint64_t kMostNumbers = 1U << 26;
  if (!from.constant || !from.unread.empty() || from.elements > kMostNumbers) {
    throw NotTranslated{fmt::format("\"{}\" is not a constant that can be read", from.name)};
  }
  onnx::Tensor stored;
  stored.type = from.type;
  stored.bytes = from.bytes;
  uint64_t inner = 1;
  for (size_t d = static_cast<size_t>(std::max<int64_t>(from.axis, 0)) + 1; d < from.dims.size(); ++d) {
    inner *= static_cast<uint64_t>(from.dims[d]);
  }
  model_.budget->take(from.elements, sizeof(float), "numbers of its tensors");
  std::vector<float> out;
  out.reserve(static_cast<size_t>(from.elements));
  for (uint64_t k = 0; k < from.elements; ++k) {
    const double value = onnx::element(stored, k);
    if (from.scales.empty()) {
      out.push_back(static_cast<float>(value));
      continue;
    }
    const size_t s = from.scales.size() == 1 ? 0 : static_cast<size_t>(k / inner % from.scales.size());
    out.push_back(static_cast<float>((value - static_cast<double>(from.zeros[s])) * double{from.scales[s]}));
  }
  return out;
}

bool Translator::spreads(const Operation& op) const {
  using fl::BuiltinOperator;
  static const std::set<BuiltinOperator> kSpread = {BuiltinOperator::ADD,
                                                    BuiltinOperator::SUB,
                                                    BuiltinOperator::MUL,
                                                    BuiltinOperator::RESHAPE,
                                                    BuiltinOperator::SOFTMAX,
                                                    BuiltinOperator::BATCH_MATMUL,
                                                    BuiltinOperator::FULLY_CONNECTED,
                                                    BuiltinOperator::EMBEDDING_LOOKUP};
  const bool is_output = std::find(file_.outputs.begin(), file_.outputs.end(), op.outputs[0]) != file_.outputs.end();
  return !is_output && std::all_of(file_.operations.begin(), file_.operations.end(), [&](const Operation& reader) {
    const bool reads = std::find(reader.inputs.begin(), reader.inputs.end(), op.outputs[0]) != reader.inputs.end();
    return !reads || kSpread.count(reader.code) != 0;
  });
}

bool Translator::keeps_tokens(const Operation& op) {
  const Tensor& x = tensor(op, 0);
  const bool dropped = x.dims.size() == 3 && x.dims[0] == 1 && x.dims[1] == tokens_ && tokens_ > 1 &&
                       made(op).dims.size() == 2 && made(op).dims[0] == tokens_ && spreads(op);
  if (dropped) leading.insert(op.outputs[0]);
  return dropped;
}

bool Translator::skips_filling(int32_t mask, bool backwards) {
  using fl::BuiltinOperator;
  const Operation* op = writer(mask);
  for (size_t steps = 0; op != nullptr && op->code != BuiltinOperator::NOT_EQUAL; ++steps) {
    const bool moves = op->code == BuiltinOperator::RESHAPE || op->code == BuiltinOperator::TRANSPOSE ||
                       op->code == BuiltinOperator::EXPAND_DIMS || op->code == BuiltinOperator::REVERSE_V2;
    if (!moves || op->inputs.empty() || steps > file_.operations.size()) return false;
    if (op->code == BuiltinOperator::REVERSE_V2) backwards = !backwards;
    op = writer(op->inputs[0]);
  }
  if (op == nullptr || op->inputs.size() != 2 || backwards) return false;
  const auto ids = std::find(roles_.begin(), roles_.end(), "input_ids") - roles_.begin();
  const std::optional<std::vector<int64_t>> other = integers(*op, 1);
  if (ids == static_cast<std::ptrdiff_t>(roles_.size()) || !other || *other != std::vector<int64_t>{0} ||
      op->inputs[0] != file_.inputs[static_cast<size_t>(ids)]) {
    return false;
  }
  static const std::set<BuiltinOperator> kRowByRow = {
      BuiltinOperator::NOT_EQUAL,    BuiltinOperator::LESS,          BuiltinOperator::ADD,
      BuiltinOperator::MUL,          BuiltinOperator::SUB,           BuiltinOperator::SELECT,
      BuiltinOperator::SELECT_V2,    BuiltinOperator::GATHER,        BuiltinOperator::RESHAPE,
      BuiltinOperator::TRANSPOSE,    BuiltinOperator::EXPAND_DIMS,   BuiltinOperator::SQUEEZE,
      BuiltinOperator::REVERSE_V2,   BuiltinOperator::WHILE,         BuiltinOperator::STRIDED_SLICE,
      BuiltinOperator::CAST,         BuiltinOperator::CONCATENATION, BuiltinOperator::FULLY_CONNECTED,
      BuiltinOperator::BATCH_MATMUL, BuiltinOperator::RELU,          BuiltinOperator::TANH,
      BuiltinOperator::LOGISTIC,     BuiltinOperator::SOFTMAX,       BuiltinOperator::DEQUANTIZE,
      BuiltinOperator::QUANTIZE};
  for (const Operation& one : file_.operations) {
    if (kRowByRow.count(one.code) == 0) return false;
  }
  model_.filled = false;
  note("recurrent layers skip ids of 0, so that texts are not filled up");
  return true;
}

std::string Translator::tokens(const Operation& op) {
  const auto ids = std::find(roles_.begin(), roles_.end(), "input_ids");
  if (ids == roles_.end()) throw NotTranslated{"adds rows of places, and there are no ids"};
  std::string count = between(op);
  Node& shape = add(op, "Shape", {*ids}, count);
  shape.attributes["start"].i = 1;
  shape.attributes["end"].i = 2;
  return count;
}

/// The operator that computed a tensor, skipping operators that leave its numbers unchanged; null: none did. Files may
/// have cycles.
const Operation* Translator::origin(int32_t tensor, const std::map<int32_t, int>& uses) const {
  const Operation* op = writer(tensor);
  for (size_t steps = 0; op != nullptr && is_passing(op->code) && !op->inputs.empty(); ++steps) {
    const auto used = uses.find(op->inputs[0]);
    const bool alone = used == uses.end() || used->second == 1;
    if (!alone || steps > file_.operations.size()) return nullptr;
    op = writer(op->inputs[0]);
  }
  return op;
}

/// Finds softmax and logistic operators whose result only the model's output reads.
void Translator::find_endings() {
  std::map<int32_t, int> uses;
  for (const Operation& op : file_.operations) {
    for (const int32_t input : op.inputs) ++uses[input];
  }
  for (const int32_t output : file_.outputs) {
    const Operation* op = uses.count(output) != 0 ? nullptr : origin(output, uses);
    if (op == nullptr) continue;
    using fl::BuiltinOperator;
    const bool ending = op->code == BuiltinOperator::SOFTMAX || op->code == BuiltinOperator::LOG_SOFTMAX ||
                        op->code == BuiltinOperator::LOGISTIC;
    if (ending) endings_.insert(op);
    if (ending && op->code == BuiltinOperator::LOGISTIC) model_.sigmoid = true;
  }
}

void Translator::inputs() {
  bool mask = false;
  for (size_t i = 0; i < file_.inputs.size(); ++i) {
    const Tensor& from = file_.tensors[static_cast<size_t>(file_.inputs[i])];
    onnx::Port port;
    port.name = names_[static_cast<size_t>(file_.inputs[i])];
    port.type = from.type;
    // Keras declares ids as floats by default.
    if (port.type == Type::f32 && !roles_[i].empty()) port.type = Type::i32;
    port.dims = from.ports;
    for (int64_t& extent : port.dims) extent = extent > 0 ? extent : -1;
    mask = mask || roles_[i] == "attention_mask";
    if (port.dims.size() == 2) tokens_ = std::max(tokens_, port.dims[1]);
    model_.graph.inputs.push_back(std::move(port));
  }
  model_.tokens = tokens_;
  model_.filled = tokens_ > 0 && !mask;
}

void Translator::outputs() {
  std::set<std::string> given;
  for (size_t i = 0; i < file_.outputs.size(); ++i) {
    const int32_t tensor = file_.outputs[i];
    std::string name = file_.output_names[i].empty() ? names_[static_cast<size_t>(tensor)] : file_.output_names[i];
    const Operation* op = origin(tensor, {});
    // The output then holds the scores before the softmax or logistic.
    if (op != nullptr && endings_.count(op) != 0 && given.count("logits") == 0) name = "logits";
    if (!given.insert(name).second) continue;
    const std::string& value = names_[static_cast<size_t>(tensor)];
    if (name != value) {
      if (std::find(roles_.begin(), roles_.end(), name) != roles_.end()) name += "'";
      Node node;
      node.op = "Identity";
      node.name = name;
      node.inputs = {value};
      node.outputs = {name};
      model_.graph.nodes.push_back(std::move(node));
    }
    onnx::Port port;
    port.name = name;
    model_.graph.outputs.push_back(std::move(port));
  }
}

void Translator::run() {
  inputs();
  find_endings();
  for (const Operation& op : file_.operations) {
    const size_t before = model_.graph.nodes.size();
    const auto known = constants_;
    try {
      translate(*this, op);
    } catch (const NotTranslated& reason) {
      model_.graph.nodes.resize(before);
      constants_ = known;
      Node node;
      node.op = op.called;
      node.called = op.called;
      node.unread = reason.why;
      for (const int32_t input : op.inputs) {
        const bool made = input >= 0 && !file_.tensors[static_cast<size_t>(input)].constant &&
                          !file_.tensors[static_cast<size_t>(input)].variable;
        if (made) node.inputs.push_back(names_[static_cast<size_t>(input)]);
      }
      for (const int32_t output : op.outputs) {
        if (output >= 0) node.outputs.push_back(names_[static_cast<size_t>(output)]);
      }
      model_.graph.nodes.push_back(std::move(node));
    }
  }
  outputs();
  for (const Tensor& tensor : file_.tensors) {
    if (tensor.constant || tensor.scales.empty()) continue;
    note("activations are quantised by the ranges of each run, not by the file's scales");
    break;
  }
  model_.notes.assign(notes_.begin(), notes_.end());
}

}  // namespace bantam::convert::tflite
