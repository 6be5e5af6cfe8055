// A model file's graph as a tree, for any schema, by flatc's description of it. Fields can be removed, added and moved,
// which is impossible in the bytes of a FlatBuffer, whose tables share vtables.
#ifndef BANTAM_TESTS_FUZZ_MODEL_TREE_H_
#define BANTAM_TESTS_FUZZ_MODEL_TREE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flatbuffers/reflection.h"

namespace bantam::fuzz {

struct Value;
/// Two fields may share a value; the file then has it once.
using Node = std::shared_ptr<Value>;

/// The type of the values of a field.
struct Form {
  reflection::BaseType base = reflection::None;
  reflection::BaseType element = reflection::None;  // for vectors
  int32_t index = -1;                               // index of an object or an enumeration in the schema
  bool operator==(const Form& other) const {
    return base == other.base && element == other.element && index == other.index;
  }
};

struct Value {
  Form form;
  std::vector<uint8_t> bytes;  // of a number, a struct or a string, or of a vector of numbers or structs
  std::vector<Node> items;     // of a vector of strings or tables
  // The fields of a table, by their numbers in the schema; the type of a union is its own field.
  std::map<uint16_t, Node> fields;
};

class ModelTree {
 public:
  /// `bytes`: a graph that FlatBuffers' verifier has accepted.
  explicit ModelTree(const uint8_t* bytes);
  ModelTree(const ModelTree&) = delete;
  ModelTree& operator=(const ModelTree&) = delete;
  ModelTree(ModelTree&&) = default;

  /// Returns the graph as bytes; empty if it would exceed `most` bytes.
  std::vector<uint8_t> bytes(size_t most) const;

  Node root;
};

/// The place of a number in a graph.
struct Slot {
  size_t at = 0;  // byte offset in the graph
  reflection::BaseType base = reflection::None;
  int32_t index = -1;                        // index of its enumeration
  const reflection::Field* field = nullptr;  // the field that holds it, or the vector of which it is an element
};
/// Returns all numbers of a graph that FlatBuffers' verifier has accepted: fields, parts of structs, elements of
/// vectors.
std::vector<Slot> slots_of(const uint8_t* graph);
/// The places in a graph that describe its layout: vtables, counts of vectors, offsets, ends of strings.
struct Layout {
  std::vector<size_t> links;    // offsets to tables, vectors and strings (uint32_t), and from tables to their vtables
  std::vector<size_t> ends;     // the zeros that terminate strings (uint8_t)
  std::vector<size_t> vtables;  // their sizes (uint16_t)
  std::vector<size_t> fields;   // entries of vtables (uint16_t), as byte offsets in the graph
  std::vector<size_t> vectors;  // counts (uint32_t); if `offsets` is true, elements that are offsets follow
  std::vector<bool> offsets;    // one per vector
};
Layout layout_of(const uint8_t* graph);

/// Returns the schema's tables and enumerations.
const reflection::Schema& schema();
/// Returns the table type of values of this form; null if they are not tables.
const reflection::Object* table_of(const Form& form);
/// Returns the bytes of a number or a struct, or of an element of a vector of them; 0 for other forms.
size_t inline_size(const Form& form);
/// Returns the form of a field in a table that has these fields; the form of a union depends on its type field.
Form form_of(const reflection::Field& field, const std::map<uint16_t, Node>& fields);
/// Returns a number of up to 8 bytes.
uint64_t number_of(const Value& value);
/// Returns the field of a table; null if it has none of that name.
const reflection::Field* field_named(const Value& table, const char* name);
/// Returns the value of the field; null if it is absent.
Value* child_named(const Value& table, const char* name);

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_MODEL_TREE_H_
