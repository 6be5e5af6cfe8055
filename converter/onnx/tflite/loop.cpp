// Loops over tokens (WHILE), as Keras 3 writes recurrent layers. The converter determines what the body computes: it
// runs the body and compares the results with the formulas of an LSTM (Hochreiter and Schmidhuber, 1997) and of a GRU
// (arXiv 1406.1078, with the reset gate applied after the product).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>

#include "onnx/run.h"
#include "onnx/tflite/translator.h"

namespace bantam::convert::tflite {
namespace {

using onnx::HostTensor;
using onnx::Node;

constexpr double kSameStep = 1e-4;  // tolerance for numbers around 1
constexpr size_t kUnknown = SIZE_MAX;

using LoopValues = std::map<std::string, HostTensor>;

/// A subgraph as nodes that are run on tensors in memory.
class Program {
 public:
  explicit Program(const File& file) {
    Translator to(file, {}, model_);
    to.run();
    for (const int32_t input : file.inputs) inputs_.push_back(to.name(input));
    for (const int32_t output : file.outputs) outputs_.push_back(to.name(output));
    for (const auto& [name, tensor] : model_.graph.initializers) {
      std::optional<HostTensor> loaded = onnx::load(tensor);
      if (!loaded) throw NotTranslated{fmt::format("its body's \"{}\" cannot be read", name)};
      constants_.emplace(name, *std::move(loaded));
    }
    run(constants_);  // nodes that need no input
  }

  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<Node>& nodes() const { return model_.graph.nodes; }
  const HostTensor* constant(const std::string& name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? nullptr : &found->second;
  }

  std::vector<HostTensor> operator()(const std::vector<HostTensor>& given) const {
    LoopValues values = constants_;
    for (size_t i = 0; i < given.size(); ++i) values[inputs_.at(i)] = given[i];
    run(values);
    std::vector<HostTensor> out;
    for (const std::string& name : outputs_) {
      const auto found = values.find(name);
      if (found == values.end()) throw NotTranslated{fmt::format("its \"{}\" is not computed", name)};
      out.push_back(found->second);
    }
    return out;
  }

 private:
  /// Runs every node whose inputs are available and whose output is not.
  void run(LoopValues& values) const {
    for (const Node& node : model_.graph.nodes) {
      if (!node.unread.empty()) throw NotTranslated{fmt::format("its body's {} {}", node.shown(), node.unread)};
      if (values.count(node.output(0)) != 0) continue;
      std::vector<const HostTensor*> in;
      bool there = true;
      for (const std::string& name : node.inputs) {
        const auto found = values.find(name);
        there = there && (name.empty() || found != values.end());
        in.push_back(name.empty() || found == values.end() ? nullptr : &found->second);
      }
      if (!there) continue;
      std::vector<HostTensor> made;
      try {
        made = made_of(node, in);
      } catch (const std::exception& error) {
        throw NotTranslated{fmt::format("its body's {} cannot be run: {}", node.shown(), error.what())};
      }
      if (made.size() < node.outputs.size()) {
        throw NotTranslated{fmt::format("its body's {} is not run here", node.shown())};
      }
      for (size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = std::move(made[i]);
    }
  }

  std::vector<HostTensor> made_of(const Node& node, const std::vector<const HostTensor*>& in) const {
    if (node.op == "DequantizeLinear") return {real(node, in)};
    if (node.op != "Split" || in.size() != 1) return onnx::run_node(node, in, model_.opset);
    // Each part is a slice.
    const size_t axis = onnx::axis_of_rank(node.integer("axis", 0), in[0]->dims.size());
    std::vector<int64_t> sizes = node.integers("split");
    const auto parts = static_cast<int64_t>(node.outputs.size());
    if (sizes.empty()) sizes.assign(node.outputs.size(), in[0]->dims[axis] / parts);
    std::vector<HostTensor> out;
    Node part;
    part.op = "Slice";
    set(part, "axes", std::vector<int64_t>{static_cast<int64_t>(axis)});
    int64_t begin = 0;
    for (size_t i = 0; i < node.outputs.size(); begin += sizes.at(i), ++i) {
      set(part, "starts", std::vector<int64_t>{begin});
      set(part, "ends", std::vector<int64_t>{begin + sizes.at(i)});
      out.push_back(onnx::run_node(part, in, model_.opset).at(0));
    }
    return out;
  }

  /// Dequantizes integers.
  static HostTensor real(const Node& node, const std::vector<const HostTensor*>& in) {
    const HostTensor &x = *in.at(0), &scale = *in.at(1);
    const HostTensor* const zero = in.size() > 2 ? in[2] : nullptr;
    const auto axis = static_cast<size_t>(std::max<int64_t>(node.integer("axis", 0), 0));
    size_t inner = 1;
    for (size_t d = axis + 1; d < x.dims.size(); ++d) inner *= static_cast<size_t>(x.dims[d]);
    std::vector<double> values;
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t s = scale.size() == 1 ? 0 : i / inner % scale.size();
      const double offset = zero == nullptr ? 0 : zero->at(zero->size() == 1 ? 0 : s);
      values.push_back((x.at(i) - offset) * scale.at(s));
    }
    return onnx::host_floats(x.dims, std::move(values));
  }

  onnx::Model model_;
  std::vector<std::string> inputs_, outputs_;
  LoopValues constants_;
};

/// The weights of the gates: row weights [inputs][gates * cells] and state weights [cells][gates * cells] in the file's
/// order of gates, and biases.
struct Cell {
  bool lstm = false;
  size_t width = 0, cells = 0;
  std::vector<double> rows, states, row_bias, state_bias;
  // The file's index of each gate: LSTM input, forget, cell, output; GRU update, reset, new.
  std::vector<size_t> gates;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> product(const std::vector<double>& x, const std::vector<double>& matrix,
                            const std::vector<double>& bias) {
  const size_t columns = bias.size();
  std::vector<double> out = bias;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t c = 0; c < columns; ++c) out[c] += x[i] * matrix[i * columns + c];
  }
  return out;
}

/// Runs one step: replaces h and c by the next ones.
void step(const Cell& cell, const std::vector<double>& x, std::vector<double>* h, std::vector<double>* c) {
  const std::vector<double> of_row = product(x, cell.rows, cell.row_bias);
  const std::vector<double> of_state = product(*h, cell.states, cell.state_bias);
  const size_t n = cell.cells;
  for (size_t i = 0; i < n; ++i) {
    const auto at = [&](size_t gate) { return cell.gates[gate] * n + i; };
    const auto sum = [&](size_t gate) { return of_row[at(gate)] + of_state[at(gate)]; };
    if (cell.lstm) {
      (*c)[i] = sigmoid(sum(1)) * (*c)[i] + sigmoid(sum(0)) * std::tanh(sum(2));
      (*h)[i] = sigmoid(sum(3)) * std::tanh((*c)[i]);
    } else {
      const double update = sigmoid(sum(0)), reset = sigmoid(sum(1));
      const double next = std::tanh(of_row[at(2)] + reset * of_state[at(2)]);
      (*h)[i] = update * (*h)[i] + (1 - update) * next;
    }
  }
}

bool near(const HostTensor& x, size_t begin, const std::vector<double>& wanted) {
  if (x.whole || begin > x.size() || x.size() - begin < wanted.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!(std::fabs(x.floats[begin + i] - wanted[i]) <= kSameStep)) return false;
  }
  return true;
}

bool same(const HostTensor& a, const HostTensor& b) {
  return a.whole == b.whole && a.dims == b.dims && a.ints == b.ints && a.floats == b.floats;
}

/// The role of a loop variable.
enum class LoopPart : uint8_t { kCounter, kRows, kState, kCells, kAll, kLast, kKept };

class Loop {
 public:
  Loop(Translator& to, const Operation& op, const File& body, const File& condition)
      : to_(to), op_(op), body_(body), condition_(condition), parts_(op.inputs.size(), LoopPart::kKept) {
    if (body_.inputs().size() != op.inputs.size() || body_.outputs().size() != op.inputs.size() ||
        condition_.inputs().size() != op.inputs.size() || condition_.outputs().size() != 1 ||
        op.outputs.size() != op.inputs.size()) {
      throw NotTranslated{"its body takes other values than it gives"};
    }
  }

  void translate() {
    find_products();
    tell_parts();
    if (mask_ != kUnknown) check_mask();
    check_condition();
    check_begin();
    emit();
  }

 private:
  const Tensor& given(size_t i) const { return to_.tensor(op_, i); }
  [[noreturn]] static void refuse(const char* why) { throw NotTranslated{why}; }

  /// For each value of the body, a bit set of the loop variables from which it is computed.
  std::map<std::string, uint64_t> origins() const {
    constexpr size_t kMostValues = 64;
    if (op_.inputs.size() > kMostValues) refuse("carries more than 64 values");
    std::map<std::string, uint64_t> from;
    for (size_t i = 0; i < op_.inputs.size(); ++i) from[body_.inputs()[i]] = uint64_t{1} << i;
    for (const Node& node : body_.nodes()) {
      uint64_t bits = 0;
      for (const std::string& input : node.inputs) bits |= from[input];
      for (const std::string& output : node.outputs) from[output] |= bits;
    }
    return from;
  }

  bool is_number(size_t i) const { return onnx::is_float(given(i).type); }

  /// Finds the matrices by which a token's row and the state are multiplied, and the biases that are added.
  void find_products() {
    std::map<std::string, uint64_t> from = origins();
    std::vector<std::pair<uint64_t, const HostTensor*>> matrices;
    for (const Node& node : body_.nodes()) {
      const HostTensor* const matrix = node.op == "MatMul" ? body_.constant(node.input(1)) : nullptr;
      if (matrix != nullptr && matrix->dims.size() == 2) matrices.emplace_back(numbers(from[node.input(0)]), matrix);
    }
    if (matrices.size() != 2) refuse("its body multiplies other than two matrices, a token's and a state's");
    // The body replaces the state and keeps the rows of tokens.
    for (auto& [bits, matrix] : matrices) {
      const size_t value = only(bits);
      const bool stays = value != kUnknown && body_.outputs()[value] == body_.inputs()[value];
      if (value == kUnknown)
        refuse("its body multiplies a token's row and the state together (a GRU with reset_after=False)");
      (stays ? rows_ : state_) = value;
      std::vector<double>& into = stays ? cell_.rows : cell_.states;
      into = matrix->floats;
      (stays ? cell_.width : cell_.cells) = static_cast<size_t>(matrix->dims[0]);
      columns_ = static_cast<size_t>(matrix->dims[1]);
      if (matrix->whole) refuse("its matrices are whole numbers");
    }
    if (rows_ == kUnknown || state_ == kUnknown || cell_.cells == 0) refuse("its body has no state");
    cell_.row_bias.assign(columns_, 0.0);
    cell_.state_bias.assign(columns_, 0.0);
    if (cell_.rows.size() != cell_.width * columns_ || cell_.states.size() != cell_.cells * columns_) {
      refuse("its matrices do not go together");
    }
    for (const Node& node : body_.nodes()) {
      if (node.op != "Add") continue;
      for (const size_t i : {size_t{0}, size_t{1}}) {
        const HostTensor* const bias = body_.constant(node.input(i));
        if (bias == nullptr || bias->whole || bias->size() != columns_) continue;
        const bool of_state = only(numbers(from[node.input(1 - i)])) == state_;
        std::vector<double>& into = of_state ? cell_.state_bias : cell_.row_bias;
        for (size_t c = 0; c < columns_; ++c) into[c] += bias->floats[c];
      }
    }
    cell_.lstm = columns_ == 4 * cell_.cells;
    if (!cell_.lstm && columns_ != 3 * cell_.cells)
      refuse("its body has neither an LSTM's four gates nor a GRU's three");
  }

  uint64_t numbers(uint64_t bits) const {
    uint64_t out = 0;
    for (size_t i = 0; i < op_.inputs.size(); ++i) out |= is_number(i) ? bits & uint64_t{1} << i : 0;
    return out;
  }
  static size_t only(uint64_t bits) {
    size_t at = kUnknown;
    for (size_t i = 0; i < 64; ++i) {
      if ((bits >> i & 1) == 0) continue;
      if (at != kUnknown) return kUnknown;
      at = i;
    }
    return at;
  }

  /// Random values for the loop variables. All counters are `count`; `token`: the token at that position is real, not
  /// padding.
  std::vector<HostTensor> some(std::mt19937& random, int64_t count, bool token = true) const {
    std::vector<HostTensor> values;
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      const Tensor& tensor = given(i);
      if (!is_number(i)) {
        values.push_back(onnx::host_integers({count}, true));
        if (i != mask_) continue;
        values.back() = onnx::host_integers(std::vector<int64_t>(static_cast<size_t>(tokens_), 1));
        values.back().dims = tensor.dims;
        if (!token) values.back().ints.at(static_cast<size_t>(count)) = 0;
        continue;
      }
      std::vector<double> drawn(onnx::count_of(tensor.dims));
      // A standard distribution would give different numbers on different platforms.
      for (double& v : drawn) v = static_cast<double>(random() % 2001) / 1000 - 1;
      values.push_back(onnx::host_floats(tensor.dims, std::move(drawn)));
    }
    return values;
  }

  /// Determines from one step how the body updates each variable; tries all orders of gates.
  void tell_parts() {
    const Tensor& rows = given(rows_);
    if (rows.dims.size() != 3 || rows.dims[1] != 1 || rows.dims[0] < 1 ||
        rows.dims[2] != static_cast<int64_t>(cell_.width)) {
      refuse("goes through something else than the tokens of one text");
    }
    tokens_ = rows.dims[0];
    for (size_t i = 0; i < op_.inputs.size(); ++i) {
      if (is_number(i) || given(i).dims.empty()) continue;
      const bool mask = mask_ == kUnknown && given(i).type == onnx::Type::boolean &&
                        given(i).elements == static_cast<uint64_t>(tokens_) && given(i).dims[0] == tokens_ &&
                        body_.outputs()[i] == body_.inputs()[i];
      if (!mask) refuse("carries lists of whole numbers");
      mask_ = i;
    }
    cell_.gates = {0, 1, 2};
    if (cell_.lstm) cell_.gates.push_back(3);
    do {
      std::mt19937 random(11);
      bool all = true;
      for (const int64_t count : {int64_t{0}, tokens_ / 2, tokens_ - 1}) all = all && fits(random, count);
      if (all) return;
    } while (std::next_permutation(cell_.gates.begin(), cell_.gates.end()));
    refuse("its body is neither an LSTM nor a GRU with the usual activations");
  }

  bool fits(std::mt19937& random, int64_t count) {
    const std::vector<HostTensor> before = some(random, count);
    const std::vector<HostTensor> after = body_(before);
    const double* row = before[rows_].floats.data() + static_cast<size_t>(count) * cell_.width;
    const std::vector<double> x(row, row + cell_.width);
    for (size_t c = 0; c < op_.inputs.size(); ++c) {  // tries each variable as the cells
      const bool may_be = is_number(c) && c != state_ && c != rows_ && before[c].size() == cell_.cells;
      if (cell_.lstm ? !may_be : c != 0) continue;
      std::vector<double> h = before[state_].floats;
      if (h.size() != cell_.cells) return false;
      std::vector<double> cells = cell_.lstm ? before[c].floats : std::vector<double>(cell_.cells, 0.0);
      step(cell_, x, &h, &cells);
      bool all = true;
      for (size_t i = 0; i < op_.inputs.size() && all; ++i) {
        all = tell(i, before[i], after[i], count, h, cell_.lstm && i == c ? &cells : nullptr);
      }
      if (all) return true;
    }
    return false;
  }

  bool tell(size_t i, const HostTensor& before, const HostTensor& after, int64_t count, const std::vector<double>& h,
            const std::vector<double>* cells) {
    const size_t n = cell_.cells;
    if (i == rows_ || (same(before, after) && body_.outputs()[i] == body_.inputs()[i])) {
      parts_[i] = i == rows_ ? LoopPart::kRows : LoopPart::kKept;
      return same(before, after);
    }
    if (before.whole) {
      parts_[i] = LoopPart::kCounter;
      return after.whole && after.size() == 1 && after.ints[0] == count + 1;
    }
    if (cells != nullptr) {
      parts_[i] = LoopPart::kCells;
      return after.size() == n && near(after, 0, *cells);
    }
    if (i == state_ || after.size() == n) {
      parts_[i] = i == state_ ? LoopPart::kState : LoopPart::kLast;
      return after.size() == n && near(after, 0, h);
    }
    // All states so far, with this one at its position.
    parts_[i] = LoopPart::kAll;
    const auto at = static_cast<size_t>(count) * n;
    if (after.size() != static_cast<size_t>(tokens_) * n || before.size() != after.size() || !near(after, at, h)) {
      return false;
    }
    for (size_t k = 0; k < after.size(); ++k) {
      if ((k < at || k >= at + n) && after.floats[k] != before.floats[k]) return false;
    }
    return true;
  }

  /// Checks that padding tokens leave all variables unchanged, so that texts need no padding.
  void check_mask() const {
    std::mt19937 random(13);
    for (const int64_t count : {int64_t{0}, tokens_ - 1}) {
      const std::vector<HostTensor> before = some(random, count, false), after = body_(before);
      for (size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i] == LoopPart::kCounter || parts_[i] == LoopPart::kRows || parts_[i] == LoopPart::kKept) continue;
        bool stays = false;
        for (size_t k = 0; k < parts_.size(); ++k) {
          const bool last =
              parts_[k] == LoopPart::kLast && (parts_[i] == LoopPart::kLast || parts_[i] == LoopPart::kAll);
          const auto at = parts_[i] == LoopPart::kAll ? static_cast<size_t>(count) * cell_.cells : 0;
          stays = stays || ((last || k == i) && parts_[k] != LoopPart::kAll && near(after[i], at, before[k].floats));
        }
        if (!stays) refuse("its mask does something else than to skip what fills texts up");
      }
    }
    if (!to_.skips_filling(op_.inputs[mask_], to_.reversed.count(op_.inputs[rows_]) != 0)) {
      refuse("its mask is not that of ids other than 0, or layers behind it read what fills texts up");
    }
  }

  /// Checks that the loop runs for all tokens, and no longer.
  void check_condition() const {
    std::mt19937 random(12);
    for (const int64_t count : {int64_t{0}, tokens_ / 2, tokens_ - 1, tokens_}) {
      const HostTensor goes_on = condition_(some(random, count)).front();
      if (goes_on.size() != 1 || (goes_on.at(0) != 0) != (count < tokens_))
        refuse("ends elsewhere than at the last token");
    }
  }

  void check_begin() const {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] != LoopPart::kCounter && parts_[i] != LoopPart::kState && parts_[i] != LoopPart::kCells) continue;
      bool zero = given(i).constant;
      if (zero && is_number(i)) {
        const std::vector<float> begin = to_.numbers(op_, i);
        zero = std::all_of(begin.begin(), begin.end(), [](float v) { return v == 0; });
      } else if (zero) {
        zero = to_.list(op_, i, "counters") == std::vector<int64_t>{0};
      }
      if (!zero) refuse("begins with states or places that are not 0");
    }
  }

  /// The gates one after the other in ONNX's order: [gates * cells][of].
  std::vector<float> ordered(const std::vector<double>& matrix, size_t of) const {
    const std::vector<size_t> gates = cell_.lstm ? std::vector<size_t>{0, 3, 1, 2} : std::vector<size_t>{0, 1, 2};
    std::vector<float> out;
    for (const size_t gate : gates) {
      for (size_t i = 0; i < cell_.cells; ++i) {
        for (size_t k = 0; k < of; ++k) {
          out.push_back(static_cast<float>(matrix[k * columns_ + cell_.gates[gate] * cell_.cells + i]));
        }
      }
    }
    return out;
  }

  void emit() {
    Recurrence made;
    made.op = cell_.lstm ? "LSTM" : "GRU";
    made.x = rows_;
    made.cells = static_cast<int64_t>(cell_.cells);
    made.time_major = true;
    made.rows = ordered(cell_.rows, cell_.width);
    made.states = ordered(cell_.states, cell_.cells);
    made.biases = ordered(cell_.row_bias, 1);
    const std::vector<float> of_states = ordered(cell_.state_bias, 1);
    made.biases.insert(made.biases.end(), of_states.begin(), of_states.end());
    for (size_t i = 0; i < parts_.size() && i < op_.outputs.size(); ++i) {
      if (parts_[i] == LoopPart::kAll) made.all = i;
    }
    const std::string state = add_recurrence(to_, op_, made);
    for (size_t i = 0; i < parts_.size() && i < op_.outputs.size(); ++i) {
      if (parts_[i] == LoopPart::kState) to_.add(op_, "Identity", {state}, to_.out(op_, i));
      if (parts_[i] == LoopPart::kLast && given(i).dims.size() == 2) to_.add(op_, "Identity", {state}, to_.out(op_, i));
      if (parts_[i] == LoopPart::kLast && given(i).dims.size() != 2)
        set(to_.add(op_, "Unsqueeze", {state}, to_.out(op_, i)), "axes", std::vector<int64_t>{0});
      if (parts_[i] == LoopPart::kCells) {
        to_.add(op_, "LoopCells", {state}, to_.out(op_, i)).unread = "reads the cells behind the last token";
      }
    }
  }

  Translator& to_;
  const Operation& op_;
  Program body_, condition_;
  std::vector<LoopPart> parts_;
  Cell cell_;
  size_t columns_ = 0, rows_ = kUnknown, state_ = kUnknown, mask_ = kUnknown;
  int64_t tokens_ = 0;
};

}  // namespace

void loop(Translator& to, const Operation& op) {
  const auto* given = op.options->builtin_options_as<fl::WhileOptions>();
  const File* const body = given == nullptr ? nullptr : to.subgraph(given->body_subgraph_index());
  const File* const condition = given == nullptr ? nullptr : to.subgraph(given->cond_subgraph_index());
  if (body == nullptr || condition == nullptr) throw NotTranslated{"stands in a loop, or has no body"};
  try {
    Loop(to, op, *body, *condition).translate();
  } catch (const std::length_error&) {
    throw NotTranslated{"its values are larger than is run here"};
  } catch (const std::out_of_range&) {
    throw NotTranslated{"its body's values do not go together"};
  }
}

}  // namespace bantam::convert::tflite
