// Translator: converts the operators of a TensorFlow Lite file, in order, to nodes of the ONNX importer's graph. The
// nodes compute on real numbers: integer constants keep their integers and scales, activations are not quantized.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_TRANSLATOR_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_TRANSLATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "onnx/tflite/file.h"

namespace bantam::convert::tflite {

/// An operator's function throws this where it cannot translate the operator.
struct NotTranslated {
  std::string why;
};

class Translator {
 public:
  /// `file` must outlive the model, whose tensors point into it. `roles`: names of the inputs, "": the file's names.
  Translator(const File& file, std::vector<std::string> roles, onnx::Model& model);

  /// Adds nodes, constants, inputs and outputs. Unknown operators keep their own names, for messages.
  void run();

  // Functions that the translation of operators uses.
  const Tensor& tensor(const Operation& op, size_t i) const;
  bool there(const Operation& op, size_t i) const { return i < op.inputs.size() && op.inputs[i] >= 0; }
  /// The name of a value; a constant becomes an initializer.
  std::string in(const Operation& op, size_t i);
  const std::string& out(const Operation& op, size_t i = 0) const;
  const std::string& name(int32_t tensor) const { return names_[static_cast<size_t>(tensor)]; }
  /// A subgraph of a loop; null if there is none, or the loop is in another subgraph.
  const File* subgraph(int32_t index) const;
  const Tensor& made(const Operation& op, size_t i = 0) const;
  /// A new name for an intermediate value.
  std::string between(const Operation& op);
  onnx::Node& add(const Operation& op, const char* name, std::vector<std::string> inputs, std::string output);
  /// The integers of a constant; nullopt for a computed value.
  std::optional<std::vector<int64_t>> integers(const Operation& op, size_t i) const;
  /// The integers of a required constant; `what`: for messages.
  std::vector<int64_t> list(const Operation& op, size_t i, const char* what) const;
  /// A constant as f32.
  std::vector<float> numbers(const Operation& op, size_t i) const;
  std::string constant(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& values);
  std::string constant(const std::string& name, const std::vector<int64_t>& values);
  /// Adds a constant with the same bytes in another shape with the same number of elements, whose scales belong to
  /// dimension `axis`; returns its name.
  std::string reshaped(const Operation& op, size_t i, std::vector<int64_t> dims, int64_t axis);
  /// Returns true for a softmax or a logistic that writes an output of the model. Tasks compute these.
  bool is_ending(const Operation& op) const { return endings_.count(&op) != 0; }
  /// The operator that writes a tensor; null: none.
  const Operation* writer(int32_t tensor) const;
  /// Adds a node that computes the number of tokens of the text; returns its output's name.
  std::string tokens(const Operation& op);
  /// Returns true if an operator removes the batch axis of a single text's tokens, so that its value can keep the axis.
  /// The tensor is then added to `leading`.
  bool keeps_tokens(const Operation& op);
  /// Returns true if only elementwise operators, products, softmax, lookups and reshapes read the operator's output, so
  /// that an additional leading axis does not matter.
  bool spreads(const Operation& op) const;
  /// The number of tokens that the file was made for; 0: any.
  int64_t fixed_tokens() const { return tokens_; }
  void note(const std::string& text) { notes_.insert(text); }
  /// Returns true if a mask selects the ids other than 0 (with `backwards`, in reverse order of tokens), and only
  /// recurrent layers, which skip the other tokens, connect tokens. Then texts need no padding.
  bool skips_filling(int32_t mask, bool backwards);

  // Recurrent layers: the state after the last token, by the tensor of all states; and tensors with tokens in reverse
  // order, with the value that has them in forward order.
  std::map<int32_t, std::string> last_states, reversed;
  // Tensors without the batch axis that their values keep, with the rows of heads of one text.
  std::set<int32_t> leading;

 private:
  void inputs();
  const Operation* origin(int32_t tensor, const std::map<int32_t, int>& uses) const;
  void find_endings();
  void outputs();
  std::string initializer(const Tensor& tensor, const std::string& name, std::vector<int64_t> dims, int64_t axis);

  const File& file_;
  std::vector<std::string> roles_;
  onnx::Model& model_;
  int32_t input(const Operation& op, size_t i) const;
  std::vector<std::string> names_;  // of tensors' values
  std::set<std::string> taken_;
  std::set<const Operation*> endings_;
  std::map<int32_t, const Operation*> writers_;
  std::map<int32_t, int32_t> stored_;  // tensors that are copies of constants in wider types
  std::map<std::string, std::string> constants_;
  std::set<std::string> notes_;
  int64_t tokens_ = 0;
};

inline void set(onnx::Node& node, const char* attribute, std::vector<int64_t> values) {
  node.attributes[attribute].ints = std::move(values);
}
inline void set(onnx::Node& node, const char* attribute, int64_t value) { node.attributes[attribute].i = value; }

/// An LSTM or a GRU with weights [gates][cells][inputs] in ONNX's order of gates.
struct Recurrence {
  const char* op = "LSTM";
  size_t x = 0;  // the input with the rows of tokens
  int64_t cells = 0;
  bool time_major = false;
  std::vector<float> rows, states, biases;  // biases of the rows, then of the states
  std::optional<size_t> all;                // the output with the states of all tokens
};

/// Adds the nodes of a recurrent layer, in reverse if its tokens are in reverse order. Returns the state after the last
/// token, [texts, cells].
std::string add_recurrence(Translator& to, const Operation& op, const Recurrence& recurrence);
/// Adds the nodes of a loop over tokens.
void loop(Translator& to, const Operation& op);

/// Adds the nodes of an operator. Throws NotTranslated.
void translate(Translator& to, const Operation& op);
/// Adds the nodes of an operator that is a layer; returns false if it is not one.
bool translate_layer(Translator& to, const Operation& op);
/// Keeps the batch axis in the output if an input kept it, see Translator::leading.
void keep_leading(Translator& to, const Operation& op);
/// Adds the operator's fused activation after it.
void finish(Translator& to, const Operation& op, fl::Activation activation, const std::string& value);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_TRANSLATOR_H_
