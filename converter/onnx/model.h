// An ONNX file as read: nodes, attributes, and tensors whose bytes stay in the mapped file. Field names follow the
// format: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
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
  u4 = 21,  // two per byte, the first in the lower half
  i4 = 22
};
/// Bytes per element; 0 if the type is unsupported or two elements share a byte.
uint32_t bytes_of(Type type);
inline bool is_half_byte(Type type) { return type == Type::u4 || type == Type::i4; }
bool is_float(Type type);
std::string name_of(Type type);

struct Tensor {
  std::string name;
  Type type = Type::undefined;
  std::vector<int64_t> dims;
  uint64_t elements = 1;
  /// `elements` little-endian numbers in a mapped file; small or decoded ones are in `owned`.
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
  std::string ref;  // in a function: the attribute of the calling node that replaces this one
};

/// Bytes that an attribute takes in memory; graphs and tensors are not counted, because they are shared.
uint64_t bytes_of(const Attribute& attribute);

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  // "": omitted
  std::map<std::string, Attribute> attributes;
  std::string called;  // the operator's name in a file of another format; "": `op`
  std::string unread;  // why the reader of that format could not translate the operator; "": it could

  bool has(const std::string& attribute) const { return attributes.count(attribute) != 0; }
  int64_t integer(const std::string& attribute, int64_t otherwise) const;
  float number(const std::string& attribute, float otherwise) const;
  std::string text(const std::string& attribute, const std::string& otherwise) const;
  std::vector<int64_t> integers(const std::string& attribute) const;
  const std::string& input(size_t i) const;  // "": no such input
  const std::string& output(size_t i) const;
  /// The node's name in messages: "MatMul \"/encoder/...\"".
  std::string shown() const;
};

/// Bytes that a node takes in memory until the graph is built, in node lists and in maps by the names that it reads and
/// writes.
uint64_t bytes_of(const Node& node);

/// An input or output; unknown extents are -1.
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
  std::string format = "onnx";              // name in the report
  std::string documented = "docs/onnx.md";  // documentation of the supported graphs
  std::filesystem::path path;
  std::vector<std::filesystem::path> data_files;  // files with external data
  std::string producer;
  /// Version of the format's own operators.
  int64_t opset = 0;
  std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>("", 0);  // of the file and its external data
  NodeGraph graph;
  std::vector<Function> functions;
  std::vector<std::shared_ptr<const host::MappedFile>> mappings;  // keep alive the bytes that tensors point to
  std::map<std::string, InputRole> given;                         // inputs that --inputs names
  std::string chosen_output;                                      // the output that --graph-output names; "": none
  /// The maximum length of texts, if the graph has a fixed length; 0: any length.
  int64_t tokens = 0;
  bool filled = false;             // there is no mask: texts are padded to the fixed length
  bool sigmoid = false;            // the scores of labels are independent of each other
  std::vector<std::string> notes;  // lines for the report

  /// Releases the pages of a tensor's bytes until they are read again. Does nothing if the bytes are not in a mapped
  /// file.
  void let_go(std::string_view bytes) const;
};

/// Reads and checks a file: sizes against the bytes, external data within the file's directory. Function calls are
/// replaced by the function's nodes, an If with a constant condition by the branch taken (otherwise by both branches,
/// see kBranches), and Constant nodes become initializers. Nodes are sorted topologically. Throws Error (kIo, kInvalid,
/// kUnsupported) that names the file and the node. Memory: names and attributes; data stays in the file.
Model read_model(const std::filesystem::path& path);

/// As above, for a model in memory; external data is refused. `bytes` must outlive the model.
Model read_model(std::string_view bytes, const std::string& name);

/// The operator that replaces an If whose condition is not constant: its inputs are the condition and the values of the
/// two branches.
constexpr const char* kBranches = "If#";

/// Inlines functions and branches and collects constants; see read_model.
void settle(Model& model);

constexpr int64_t kOldestOpset = 7, kNewestOpset = 24;

}  // namespace bantam::convert::onnx

#endif  // BANTAM_CONVERTER_ONNX_MODEL_H_
