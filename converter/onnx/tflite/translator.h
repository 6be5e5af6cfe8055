// Translator: the operators of a TensorFlow Lite file as nodes of the ONNX importer's graph, one after the other. Numbers are real ones
// there: constants of integers keep them and their scales, activations have none.
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
  /// `file` outlives the model, whose tensors point into it. `roles`: the names of inputs, "": the file's names.
  Translator(const File& file, std::vector<std::string> roles, onnx::Model& model);

  /// Adds nodes, constants, inputs and outputs; operators that are not known stand there by their own names, for messages.
  void run();

  // Functions that the translation of operators uses.
  const Tensor& tensor(const Operation& op, size_t i) const;
  bool there(const Operation& op, size_t i) const { return i < op.inputs.size() && op.inputs[i] >= 0; }
  /// The name of a value; a constant becomes an initializer with its numbers.
  std::string in(const Operation& op, size_t i);
  const std::string& out(const Operation& op, size_t i = 0) const;
  const std::string& name(int32_t tensor) const { return names_[static_cast<size_t>(tensor)]; }
  /// A subgraph that a loop is made of; null: there is none, or the loop stands in another.
  const File* subgraph(int32_t index) const;
  const Tensor& made(const Operation& op, size_t i = 0) const;
  /// A name for a value on the way to the output.
  std::string between(const Operation& op);
  onnx::Node& add(const Operation& op, const char* name, std::vector<std::string> inputs, std::string output);
  /// The integers of a constant; nothing where it is computed.
  std::optional<std::vector<int64_t>> integers(const Operation& op, size_t i) const;
  /// The integers of a constant that must be there; `what`: for messages.
  std::vector<int64_t> list(const Operation& op, size_t i, const char* what) const;
  /// A constant in f32.
  std::vector<float> numbers(const Operation& op, size_t i) const;
  std::string constant(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& values);
  std::string constant(const std::string& name, const std::vector<int64_t>& values);
  /// Adds a constant with the same bytes in another shape of as many elements, whose dimension `axis` has its scales;
  /// returns its name.
  std::string reshaped(const Operation& op, size_t i, std::vector<int64_t> dims, int64_t axis);
  /// Returns true if it is a softmax or a logistic whose output is the model's. Tasks compute these.
  bool is_ending(const Operation& op) const { return endings_.count(&op) != 0; }
  /// The operator that wrote a tensor; null: none did.
  const Operation* writer(int32_t tensor) const;
  /// A node that gives how many tokens the text has.
  std::string tokens(const Operation& op);
  /// Returns true if an operator drops the axis of texts of one text's tokens, so that its value can keep it. Then it
  /// is among `leading`.
  bool keeps_tokens(const Operation& op);
  /// Returns true if only products, sums, lookups and reshapes read the operator's output: one more axis in front does
  /// not matter to them.
  bool spreads(const Operation& op) const;
  /// How many the file was made for; 0: any.
  int64_t fixed_tokens() const { return tokens_; }
  void note(const std::string& text) { notes_.insert(text); }
  /// Returns true if a mask is that of ids other than 0 (with `backwards` from the last token on), and only recurrent
  /// layers, which skip the others, go from token to token. Then texts are not filled up.
  bool skips_filling(int32_t mask, bool backwards);

  // Recurrent layers: what stands behind the last token, by the tensor of all tokens; tensors whose tokens run backwards, and the
  // value of the same forwards.
  std::map<int32_t, std::string> last_states, reversed;
  // Tensors whose axis of texts the file drops, of heads' rows of one text: their values keep it.
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
  std::map<int32_t, int32_t> stored_;  // constants that tensors are, as wider numbers
  std::map<std::string, std::string> constants_;
  std::set<std::string> notes_;
  int64_t tokens_ = 0;
};

inline void set(onnx::Node& node, const char* attribute, std::vector<int64_t> values) {
  node.attributes[attribute].ints = std::move(values);
}
inline void set(onnx::Node& node, const char* attribute, int64_t value) { node.attributes[attribute].i = value; }

/// An LSTM or a GRU whose weights are [gates][cells][inputs] in ONNX's order of gates.
struct Recurrence {
  const char* op = "LSTM";
  size_t x = 0;  // the input that holds rows of tokens
  int64_t cells = 0;
  bool time_major = false;
  std::vector<float> rows, states, biases;  // biases of rows, then of states
  std::optional<size_t> all;                // the output that holds states of all tokens
};

/// Adds the nodes of a recurrent layer, backwards where its tokens run so. Returns the state behind the last token
/// [texts, cells].
std::string add_recurrence(Translator& to, const Operation& op, const Recurrence& recurrence);
/// Adds the nodes of a loop over tokens.
void loop(Translator& to, const Operation& op);

/// Adds the nodes of an operator. Throws NotTranslated.
void translate(Translator& to, const Operation& op);
/// Adds the nodes of an operator that is a layer; returns false where it is none.
bool translate_layer(Translator& to, const Operation& op);
/// The output keeps an axis of texts that an input kept, see Translator::leading.
void keep_leading(Translator& to, const Operation& op);
/// Adds the activation that the operator has fused behind it.
void finish(Translator& to, const Operation& op, fl::Activation activation, const std::string& value);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_TRANSLATOR_H_
