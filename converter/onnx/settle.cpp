// Flattens a model to one list of nodes: inlines functions and branches, moves constants to the initializers, and sorts
// nodes topologically.
#include <fmt/format.h>

#include <cstring>
#include <set>
#include <utility>

#include "base/error.h"
#include "onnx/model.h"
#include "onnx/quantized_nodes.h"

namespace bantam::convert::onnx {
namespace {

constexpr int kDeepestCalls = 16;
constexpr size_t kMostNodes = 1U << 17;

template <typename T>
std::shared_ptr<const std::string> bytes_of_values(const std::vector<T>& values) {
  return std::make_shared<const std::string>(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

class Settler {
 public:
  explicit Settler(Model& model) : model_(model) {
    for (const Function& function : model.functions) functions_[{function.domain, function.name}] = &function;
  }

  void run() {
    std::vector<Node> nodes = std::move(model_.graph.nodes);
    model_.graph.nodes.clear();
    for (Node& node : nodes) place(std::move(node), 0);
    sort();
  }

 private:
  [[noreturn]] void fail(ExitCode code, const std::string& why) const {
    throw Error(code, fmt::format("{}: {}", model_.path.string(), why));
  }

  void place(Node node, int depth) {
    if (depth > kDeepestCalls) {
      fail(ExitCode::kInvalid,
           fmt::format("{}: functions call each other more than {} deep", node.shown(), kDeepestCalls));
    }
    // Nested calls alone may double the number of nodes at each level.
    if (placed_.size() + ++visited_ > kMostNodes) {
      fail(ExitCode::kUnsupported, fmt::format("has more than {} nodes, which is not a model of texts", kMostNodes));
    }
    if (node.op == "Constant" && node.domain.empty()) return constant(node);
    if (node.op == "If" && node.domain.empty()) return branch(node, depth);
    const auto function = functions_.find({node.domain, node.op});
    if (function != functions_.end()) return call(node, *function->second, depth);
    for (const auto& [name, attribute] : node.attributes) {
      if (attribute.g != nullptr) {
        fail(ExitCode::kUnsupported,
             fmt::format("{}: graphs inside of nodes are read of If with a constant condition alone; export the model "
                         "without loops",
                         node.shown()));
      }
    }
    std::vector<Node> parts = without_integers(node, *model_.budget);
    if (parts.empty()) return put(std::move(node));
    for (Node& part : parts) put(std::move(part));
  }

  /// Appends a node. If several Identity nodes write the same name, the last one counts.
  void put(Node node) {
    if (node.op == "Identity" && node.domain.empty() && !node.output(0).empty()) same_[node.output(0)] = node.input(0);
    placed_.push_back(std::move(node));
  }

  void take(uint64_t bytes) { model_.budget->take(bytes, "what stands in the places of its functions and branches"); }

  void constant(const Node& node) {
    Tensor out;
    const auto fill = [&](Type type, std::shared_ptr<const std::string> owned, bool scalar, size_t count) {
      out.type = type;
      if (!scalar) out.dims = {static_cast<int64_t>(count)};
      out.elements = count;
      out.owned = std::move(owned);
      out.bytes = *out.owned;
    };
    const auto has = [&](const char* name) { return node.has(name); };
    if (has("value") && node.attributes.at("value").t != nullptr) {
      out = *node.attributes.at("value").t;
    } else if (has("value_float")) {
      fill(Type::f32, bytes_of_values(std::vector<float>{node.number("value_float", 0)}), true, 1);
    } else if (has("value_floats")) {
      const std::vector<float>& values = node.attributes.at("value_floats").floats;
      fill(Type::f32, bytes_of_values(values), false, values.size());
    } else if (has("value_int")) {
      fill(Type::i64, bytes_of_values(std::vector<int64_t>{node.integer("value_int", 0)}), true, 1);
    } else if (has("value_ints")) {
      const std::vector<int64_t> values = node.integers("value_ints");
      fill(Type::i64, bytes_of_values(values), false, values.size());
    } else if (!has("value_string") && !has("value_strings")) {
      fail(ExitCode::kInvalid, fmt::format("{}: has no value", node.shown()));
    }
    add(node.output(0), std::move(out));
  }

  void add(const std::string& name, Tensor tensor) {
    take(sizeof(Tensor) + 4 * name.size());
    tensor.name = name;
    if (!model_.graph.initializers.emplace(name, std::move(tensor)).second) {
      fail(ExitCode::kInvalid, fmt::format("\"{}\" is written twice", name));
    }
  }

  void branch(const Node& node, int depth) {
    const auto condition = model_.graph.initializers.find(resolve(node.input(0)));
    const bool known = condition != model_.graph.initializers.end() && condition->second.bytes.size() == 1;
    if (known) return place_branch(node, condition->second.bytes[0] != 0 ? "then_branch" : "else_branch", depth);
    // Keep both branches; the lowering chooses one if shapes alone decide.
    std::vector<std::vector<std::string>> outputs;
    for (const char* name : {"then_branch", "else_branch"}) {
      take(bytes_of(node));
      Node one = node;
      outputs.emplace_back();
      for (std::string& output : one.outputs) {
        output = fmt::format("{}#{}.{}", output, ++calls_, name);
        outputs.back().push_back(output);
      }
      place_branch(one, name, depth);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      Node choice;
      choice.name = node.name;
      choice.op = kBranches;
      choice.called = "If";
      choice.inputs = {node.input(0), outputs[0][i], outputs[1][i]};
      choice.outputs = {node.outputs[i]};
      take(bytes_of(choice));
      put(std::move(choice));
    }
  }

  void place_branch(const Node& node, const char* which, int depth) {
    const auto chosen = node.attributes.find(which);
    if (chosen == node.attributes.end() || chosen->second.g == nullptr ||
        chosen->second.g->outputs.size() != node.outputs.size()) {
      fail(ExitCode::kInvalid, fmt::format("{}: its branch is missing", node.shown()));
    }
    const NodeGraph& graph = *chosen->second.g;
    std::map<std::string, std::string> names;
    const std::string prefix = fmt::format("{}#{}.", node.output(0), ++calls_);
    const uint64_t before = model_.budget->taken();
    for (const auto& tensor : graph.initializers) map_name(tensor.first, prefix, names);
    for (const Node& inner : graph.nodes) {
      for (const std::string& name : inner.outputs) map_name(name, prefix, names);
    }
    const uint64_t mapped = model_.budget->taken() - before;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const auto inside = names.find(graph.outputs[i].name);
      if (inside == names.end()) {
        identity(graph.outputs[i].name, node.outputs[i]);
      } else {
        inside->second = node.outputs[i];
      }
    }
    for (const auto& [name, tensor] : graph.initializers) add(names[name], tensor);
    for (const Node& inner : graph.nodes) place(renamed(inner, names), depth + 1);
    model_.budget->give_back(mapped);
  }

  void call(const Node& node, const Function& function, int depth) {
    std::map<std::string, std::string> names;
    const std::string prefix = fmt::format("{}#{}.", node.output(0), ++calls_);
    const uint64_t before = model_.budget->taken();
    for (const Node& inner : function.nodes) {
      for (const std::string& name : inner.outputs) map_name(name, prefix, names);
    }
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      map_name(function.inputs[i], "", names);
      names[function.inputs[i]] = node.input(i);
    }
    const uint64_t mapped = model_.budget->taken() - before;
    for (size_t i = 0; i < function.outputs.size() && i < node.outputs.size(); ++i) {
      const std::string& inside = names[function.outputs[i]];
      if (inside.rfind(prefix, 0) != 0) {
        identity(inside, node.outputs[i]);
      } else {
        names[function.outputs[i]] = node.outputs[i];
      }
    }
    for (const Node& inner : function.nodes) {
      Node copy = renamed(inner, names);
      take(node.name.size());
      copy.name = node.name.empty() ? inner.name : node.name + "/" + inner.name;
      for (auto& [name, attribute] : copy.attributes) {
        if (attribute.ref.empty()) continue;
        const auto given = node.attributes.find(attribute.ref);
        const auto otherwise = function.defaults.find(attribute.ref);
        const Attribute* const stands = given != node.attributes.end()         ? &given->second
                                        : otherwise != function.defaults.end() ? &otherwise->second
                                                                               : nullptr;
        if (stands == nullptr) continue;
        take(bytes_of(*stands));
        attribute = *stands;
      }
      // An attribute that neither the node nor the function's defaults specify is absent.
      for (auto it = copy.attributes.begin(); it != copy.attributes.end();) {
        it = it->second.ref.empty() ? std::next(it) : copy.attributes.erase(it);
      }
      place(std::move(copy), depth + 1);
    }
    model_.budget->give_back(mapped);
  }

  /// Gives a call's local value its own name.
  void map_name(const std::string& name, const std::string& prefix, std::map<std::string, std::string>& names) {
    constexpr uint64_t kEntry = 112;
    take(kEntry + 2 * name.size() + prefix.size());
    names[name] = prefix + name;
  }

  void identity(const std::string& from, const std::string& to) {
    Node node;
    node.op = "Identity";
    node.inputs = {from};
    node.outputs = {to};
    take(bytes_of(node));
    put(std::move(node));
  }

  Node renamed(const Node& node, const std::map<std::string, std::string>& names) {
    take(bytes_of(node));
    Node copy = node;
    for (auto* list : {&copy.inputs, &copy.outputs}) {
      for (std::string& name : *list) {
        const auto found = names.find(name);
        if (name.empty() || found == names.end()) continue;
        take(6 * found->second.size());
        name = found->second;
      }
    }
    return copy;
  }

  /// Follows Identity nodes that have been placed, and shortens their chain for later calls.
  std::string resolve(const std::string& name) {
    std::vector<std::string> chain;
    std::string end = name;
    for (auto from = same_.find(end); from != same_.end() && chain.size() <= placed_.size(); from = same_.find(end)) {
      chain.push_back(std::move(end));
      end = from->second;
    }
    for (const std::string& passed : chain) same_[passed] = end;
    same_.erase(end);  // present only in a cycle, which sort() rejects
    return end;
  }

  /// Sorts the nodes topologically; a cycle is an error.
  void sort() {
    std::map<std::string, size_t> writers;
    for (size_t i = 0; i < placed_.size(); ++i) {
      for (const std::string& name : placed_[i].outputs) {
        if (name.empty()) continue;
        if (!writers.emplace(name, i).second || model_.graph.initializers.count(name) != 0) {
          fail(ExitCode::kInvalid, fmt::format("{}: \"{}\" is written twice", placed_[i].shown(), name));
        }
      }
    }
    std::set<std::string> given;
    for (const Port& port : model_.graph.inputs) given.insert(port.name);
    std::vector<std::vector<size_t>> readers(placed_.size());
    std::vector<size_t> waits(placed_.size(), 0);
    for (size_t i = 0; i < placed_.size(); ++i) {
      for (const std::string& name : placed_[i].inputs) {
        if (name.empty() || model_.graph.initializers.count(name) != 0) continue;
        const auto writer = writers.find(name);
        if (writer != writers.end()) {
          readers[writer->second].push_back(i);
          ++waits[i];
        } else if (given.count(name) == 0) {
          fail(ExitCode::kInvalid, fmt::format("{}: reads \"{}\", which nothing writes", placed_[i].shown(), name));
        }
      }
    }
    // Keep the file's order if it is already topological.
    std::set<size_t> ready;
    for (size_t i = 0; i < placed_.size(); ++i) {
      if (waits[i] == 0) ready.insert(i);
    }
    std::vector<Node>& out = model_.graph.nodes;
    while (!ready.empty()) {
      const size_t i = *ready.begin();
      ready.erase(ready.begin());
      for (const size_t reader : readers[i]) {
        if (--waits[reader] == 0) ready.insert(reader);
      }
      out.push_back(std::move(placed_[i]));
    }
    if (out.size() == placed_.size()) return;
    for (size_t i = 0; i < placed_.size(); ++i) {
      if (waits[i] != 0)
        fail(ExitCode::kInvalid, fmt::format("{}: reads what is made of its own output", placed_[i].shown()));
    }
  }

  Model& model_;
  std::map<std::pair<std::string, std::string>, const Function*> functions_;
  std::vector<Node> placed_;
  std::map<std::string, std::string> same_;  // output of an Identity: its input
  size_t calls_ = 0, visited_ = 0;
};

}  // namespace

void settle(Model& model) { Settler(model).run(); }

}  // namespace bantam::convert::onnx
