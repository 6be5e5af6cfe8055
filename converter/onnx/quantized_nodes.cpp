#include "onnx/quantized_nodes.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace bantam::convert::onnx {
namespace {

/// The operand layout of an operator. `data`: the number of leading operands, each followed by its scale and zero
/// point.
struct Form {
  const char* op;  // the operator on floats
  const char* domain;
  size_t data;
};

const std::map<std::string, Form> kForms = {
    {"QLinearMatMul", {"MatMul", "", 2}},
    {"QLinearConv", {"Conv", "", 2}},
    {"QGemm", {"Gemm", "com.microsoft", 2}},
    {"QLinearAdd", {"Add", "com.microsoft", 2}},
    {"QLinearMul", {"Mul", "com.microsoft", 2}},
    {"QLinearSigmoid", {"Sigmoid", "com.microsoft", 1}},
    {"QLinearLeakyRelu", {"LeakyRelu", "com.microsoft", 1}},
    {"QLinearSoftmax", {"Softmax", "com.microsoft", 1}},
    {"QLinearReduceMean", {"ReduceMean", "com.microsoft", 1}},
};

class Writer {
 public:
  Writer(const Node& node, MemoryBudget& budget) : node_(node), budget_(budget) {}

  /// Adds a node and returns the name of its output. `attributes` may include those of the original operator.
  std::string add(const char* op, std::vector<std::string> inputs, std::map<std::string, Attribute> attributes = {}) {
    Node made;
    made.op = op;
    made.name = node_.name;
    made.called = node_.called.empty() ? node_.op : node_.called;
    made.inputs = std::move(inputs);
    made.outputs = {fmt::format("{}#{}", node_.output(0), nodes_.size())};
    made.attributes = std::move(attributes);
    budget_.take(bytes_of(made), "the nodes that its operators on integers stand for");
    nodes_.push_back(std::move(made));
    return nodes_.back().outputs[0];
  }

  std::string numbers(const std::string& data, const std::string& scale, const std::string& zero, int64_t axis) {
    std::map<std::string, Attribute> attributes;
    attributes["axis"].i = axis;
    std::vector<std::string> inputs = {data, scale};
    if (!zero.empty()) inputs.push_back(zero);
    return add("DequantizeLinear", std::move(inputs), std::move(attributes));
  }

  /// Writes `made` to the node's output, as integers if that has a scale.
  std::vector<Node> finish(const std::string& made, const std::string& scale, const std::string& zero) {
    if (scale.empty()) {
      add("Identity", {made});
    } else {
      std::vector<std::string> inputs = {made, scale};
      if (!zero.empty()) inputs.push_back(zero);
      add("QuantizeLinear", std::move(inputs));
    }
    nodes_.back().outputs = {node_.output(0)};
    return std::move(nodes_);
  }

 private:
  const Node& node_;
  MemoryBudget& budget_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<Node> without_integers(const Node& node, MemoryBudget& budget) {
  Writer writer(node, budget);
  if (node.op == "QLinearConcat" && node.domain == "com.microsoft") {
    std::vector<std::string> parts;
    for (size_t i = 2; i + 2 < node.inputs.size(); i += 3) {
      parts.push_back(writer.numbers(node.inputs[i], node.inputs[i + 1], node.inputs[i + 2], 0));
    }
    if (parts.empty() || node.inputs.size() % 3 != 2) return {};
    const std::string joined = writer.add("Concat", std::move(parts), node.attributes);
    return writer.finish(joined, node.input(0), node.input(1));
  }
  const auto found = kForms.find(node.op);
  if (found == kForms.end() || node.domain != found->second.domain) return {};
  const Form& form = found->second;
  const bool gemm = node.op == "QGemm", convolution = node.op == "QLinearConv";
  if (gemm && node.number("alpha", 1) != 1) return {};  // alpha also scales the bias
  for (size_t i = 0; i < form.data; ++i) {
    if (node.input(3 * i).empty() || node.input(3 * i + 1).empty()) return {};
  }
  std::vector<std::string> operands;
  for (size_t i = 0; i < form.data; ++i) {
    // Scales of a matrix belong to columns; scales of filters and of a transposed matrix, to rows.
    const bool rows = i == 1 && (convolution || (gemm && node.integer("transB", 0) != 0));
    operands.push_back(writer.numbers(node.input(3 * i), node.input(3 * i + 1), node.input(3 * i + 2), rows ? 0 : 1));
  }
  size_t scale = 3 * form.data;
  const std::string bias = gemm ? node.input(scale) : convolution ? node.input(8) : "";
  if (gemm) ++scale;
  if (!bias.empty()) {
    const std::string product = writer.add("Mul", {node.input(1), node.input(4)});
    operands.push_back(writer.numbers(bias, product, "", 0));
  }
  std::map<std::string, Attribute> attributes = node.attributes;
  // QLinearSoftmax's opset selects the meaning of the axis, which is the last one in either case.
  attributes.erase("opset");
  const std::string made = writer.add(form.op, std::move(operands), std::move(attributes));
  return writer.finish(made, node.input(scale), node.input(scale + 1));
}

}  // namespace bantam::convert::onnx
