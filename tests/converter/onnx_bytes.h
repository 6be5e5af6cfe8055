// Writes ONNX files for tests, message by message (https://protobuf.dev/programming-guides/encoding).
#ifndef BANTAM_TESTS_CONVERTER_ONNX_BYTES_H_
#define BANTAM_TESTS_CONVERTER_ONNX_BYTES_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace bantam::convert::onnx_bytes {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
  return out;
}
inline std::string number(uint32_t field, int64_t value) {
  return varint(uint64_t{field} << 3) + varint(static_cast<uint64_t>(value));
}
inline std::string text(uint32_t field, const std::string& bytes) {
  return varint(uint64_t{field} << 3 | 2) + varint(bytes.size()) + bytes;
}

inline std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}
inline std::string integers(const std::vector<int64_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t)};
}

/// A TensorProto: data type 1 is f32, 7 is i64; `data` is one of its fields, complete.
inline std::string tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                          const std::string& data) {
  std::string out;
  for (const int64_t extent : dims) out += number(1, extent);
  return out + number(2, type) + data + text(8, name);
}
inline std::string raw(const std::string& bytes) { return text(9, bytes); }

inline std::string integer_attribute(const std::string& name, int64_t value) {
  return text(5, text(1, name) + number(3, value) + number(20, 2));
}
inline std::string node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::string& more = "") {
  std::string out;
  for (const std::string& name : inputs) out += text(1, name);
  for (const std::string& name : outputs) out += text(2, name);
  return text(1, out + text(3, "node_" + outputs.front()) + text(4, op) + more);
}
inline std::string initializer(const std::string& tensor) { return text(5, tensor); }
inline std::string input(const std::string& name) { return text(11, text(1, name)); }
inline std::string output(const std::string& name) { return text(12, text(1, name)); }

/// A ModelProto with this graph.
inline std::string model(const std::string& graph, int64_t opset = 17, const std::string& more = "") {
  return number(1, 8) + text(8, text(1, "") + number(2, opset)) + text(7, graph) + more;
}

}  // namespace bantam::convert::onnx_bytes

#endif  // BANTAM_TESTS_CONVERTER_ONNX_BYTES_H_
