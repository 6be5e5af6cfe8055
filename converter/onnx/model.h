// An ONNX file as it stands: nodes, attributes, tensors whose bytes stay in the mapped file. Names of the fields are the format's:
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#ifndef BANTAM_CONVERTER_ONNX_MODEL_H_
#define BANTAM_CONVERTER_ONNX_MODEL_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bantam/host.h"
#include "base/memory_budget.h"

namespace bantam::convert::onnx {

/// TensorProto.DataType.
enum class Type : int32_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  text = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
  u4 = 21,  // two in a byte, the first in its lower half
  i4 = 22
};
/// Bytes of an element; 0: the type is not read, or two elements are in a byte.
uint32_t bytes_of(Type type);
inline bool is_half_byte(Type type) { return type == Type::u4 || type == Type::i4; }
bool is_float(Type type);
std::string name_of(Type type);

struct Tensor {
  std::string name;
  Type type = Type::undefined;
  std::vector<int64_t> dims;
  uint64_t elements = 1;
  /// Little-endian, `elements` of them; in a mapped file or, small ones and those that were decoded, in `owned`.
  std::string_view bytes;
  std::shared_ptr<const std::string> owned;
};

/// The role of an input of a text model.
enum class InputRole : uint8_t { kIds, kMask, kSegments, kPositions };

struct NodeGraph;

struct Attribute {
  float f = 0;
  int64_t i = 0;
  std::string s;
  std::shared_ptr<Tensor> t;
  std::shared_ptr<NodeGraph> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::string ref;  // in a function: the attribute of its node that stands here
};

/// Bytes that an attribute takes in memory; graphs and tensors are shared.
uint64_t bytes_of(const Attribute& attribute);

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  // "": left out
  std::map<std::string, Attribute> attributes;
  std::string called;  // what the file calls the operator, where it is of another format; "": `op`
  std::string unread;  // why the reader of that format could make no node of it; "": it could

  bool has(const std::string& attribute) const { return attributes.count(attribute) != 0; }
  int64_t integer(const std::string& attribute, int64_t otherwise) const;
  float number(const std::string& attribute, float otherwise) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<int64_t> integers(const std::string& attribute) const;
  const std::string& input(size_t i) const;  // "": there is none
  const std::string& output(size_t i) const;
  /// As messages call it: "MatMul \"/encoder/...\"".
  std::string shown() const;
};

/// Bytes that a node takes in memory until the graph is made of it, in lists of nodes and by the names that it reads and writes.
uint64_t bytes_of(const Node& node);

/// An input or output: extents that are not known are -1.
struct Port {
  std::string name;
  Type type = Type::undefined;
  std::vector<int64_t> dims;
};

struct NodeGraph {
  std::vector<Node> nodes;
  std::map<std::string, Tensor> initializers;
  std::vector<Port> inputs, outputs;
};

struct Function {
  std::string name, domain;
  std::vector<std::string> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, Attribute> defaults;
};

struct Model {
  std::string format = "onnx";              // in the report
  std::string documented = "docs/onnx.md";  // what says which graphs are read
  std::filesystem::path path;
  std::vector<std::filesystem::path> data_files;  // of external data
  std::string producer;
  int64_t opset = 0;                                                             // of the format's own operators
  std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>("", 0);  // of the file and its data
  NodeGraph graph;
  std::vector<Function> functions;
  std::vector<std::shared_ptr<const host::MappedFile>> mappings;  // hold what tensors point to
  std::map<std::string, InputRole> given;                         // inputs that --inputs names
  std::string chosen_output;                                      // that --graph-output names; "": none
  int64_t tokens = 0;              // that texts have at most, because the graph was made for as many; 0: it was not
  bool filled = false;             // there is no mask: texts have so many, filled up
  bool sigmoid = false;            // scores are those of labels one by one
  std::vector<std::string> notes;  // report lines

  /// These bytes of a tensor are not needed for now: their pages leave this process's memory until they are read again. Nothing where they
  /// are not of a mapped file.
  void let_go(std::string_view bytes) const;
};

/// Reads and checks a file: sizes against the bytes, external data inside the file's directory. Functions are put in
/// the place of the nodes that call them, the branch of an If with a constant condition in the If's (both where it is
/// none, see kBranches), and Constant nodes among the initializers; nodes stand in the order of their inputs. Throws
/// Error (kIo, kInvalid, kUnsupported) naming file and node. Memory: names and attributes; data stays in the file.
Model read_model(const std::filesystem::path& path);

/// Reads a model from bytes in memory as above; external data is refused. `bytes` outlive the model.
Model read_model(std::string_view bytes, const std::string& name);

/// The operator in the place of an If whose condition is not constant: its inputs are the condition, the value of the
/// one branch and the value of the other one.
constexpr const char* kBranches = "If#";

/// Puts functions, branches and constants in their places, see read_model.
void settle(Model& model);

constexpr int64_t kOldestOpset = 7, kNewestOpset = 24;

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_MODEL_H_
