#include "onnx/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/scratch_memory.h"

namespace bantam::convert::onnx {

uint32_t bytes_of(Type type) {
  switch (type) {
    case Type::u8:
    case Type::i8:
    case Type::boolean:
      return 1;
    case Type::u16:
    case Type::i16:
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::f32:
    case Type::i32:
    case Type::u32:
      return 4;
    case Type::i64:
    case Type::u64:
    case Type::f64:
      return 8;
    default:
      return 0;
  }
}

bool is_float(Type type) { return type == Type::f32 || type == Type::f16 || type == Type::bf16 || type == Type::f64; }

std::string name_of(Type type) {
  static const std::map<Type, const char*> kNames = {
      {Type::f32, "f32"},      {Type::u8, "u8"},     {Type::i8, "i8"},   {Type::u16, "u16"},
      {Type::i16, "i16"},      {Type::i32, "i32"},   {Type::i64, "i64"}, {Type::text, "string"},
      {Type::boolean, "bool"}, {Type::f16, "f16"},   {Type::f64, "f64"}, {Type::u32, "u32"},
      {Type::u64, "u64"},      {Type::bf16, "bf16"}, {Type::u4, "u4"},   {Type::i4, "i4"}};
  const auto found = kNames.find(type);
  return found == kNames.end() ? fmt::format("type {}", static_cast<int32_t>(type)) : found->second;
}

uint64_t bytes_of(const Attribute& attribute) {
  uint64_t bytes = sizeof(Attribute) + attribute.s.size() + attribute.ref.size() +
                   attribute.floats.size() * sizeof(float) + attribute.ints.size() * sizeof(int64_t);
  for (const std::string& text : attribute.strings) bytes += sizeof(std::string) + text.size();
  return bytes;
}

uint64_t bytes_of(const Node& node) {
  // The list of inlined nodes is moved into the sorted list, and lists double as they grow.
  constexpr uint64_t kLists = 4;
  // Besides the node: the maps of writers, readers and aliases by name.
  constexpr uint64_t kOfName = 768, kOfEntry = 64;
  uint64_t bytes = kLists * sizeof(Node) + node.name.size() + node.op.size() + node.domain.size();
  for (const std::string& name : node.inputs) bytes += 3 * (sizeof(std::string) + name.size());
  for (const std::string& name : node.outputs) bytes += kOfName + 6 * name.size();
  for (const auto& [name, attribute] : node.attributes) bytes += kOfEntry + name.size() + bytes_of(attribute);
  return bytes;
}

int64_t Node::integer(const std::string& attribute, int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.i;
}
float Node::number(const std::string& attribute, float otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.f;
}
std::string Node::text(const std::string& attribute, const std::string& otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? otherwise : found->second.s;
}
std::vector<int64_t> Node::integers(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? std::vector<int64_t>{} : found->second.ints;
}
void Model::let_go(std::string_view bytes) const {
  // If the system caches files in large pages, reading one byte brings in the whole page around it, so that previously
  // released bytes may be resident again.
  constexpr size_t kLargePage = size_t{2} << 20;
  const std::less_equal<> at_most;  // compares pointers into different objects
  for (const auto& mapping : mappings) {
    const auto* begin = reinterpret_cast<const char*>(mapping->data());
    const bool inside = at_most(begin, bytes.data()) && at_most(bytes.data() + bytes.size(), begin + mapping->size());
    if (!inside) continue;
    const auto first = static_cast<size_t>(bytes.data() - begin);
    const size_t from = first - std::min(first, kLargePage);
    const size_t behind = first + bytes.size() + std::min(mapping->size() - first - bytes.size(), kLargePage);
    convert::let_go(begin + from, behind - from);
  }
}

const std::string& Node::input(size_t i) const {
  static const std::string kNone;
  return i < inputs.size() ? inputs[i] : kNone;
}
const std::string& Node::output(size_t i) const {
  static const std::string kNone;
  return i < outputs.size() ? outputs[i] : kNone;
}
std::string Node::shown() const {
  const std::string kind = !called.empty() ? called : domain.empty() ? op : domain + ":" + op;
  return fmt::format("{} \"{}\"", kind, !name.empty() ? name : output(0));
}

}  // namespace bantam::convert::onnx
