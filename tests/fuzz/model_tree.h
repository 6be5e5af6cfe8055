// A model file's graph as a tree of whatever the schema says, by flatc's description of it: fields can be taken away, put in and moved,
// which bytes of a FlatBuffer cannot, whose tables share descriptions of their fields.
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
/// Two fields may hold the same value: then the file has it once.
using Node = std::shared_ptr<Value>;

/// The type of values that a field may hold.
struct Form {
  reflection::BaseType base = reflection::None;
  reflection::BaseType element = reflection::None;  // of vectors
  int32_t index = -1;                               // of an object or an enumeration
  bool operator==(const Form& other) const {
    return base == other.base && element == other.element && index == other.index;
  }
};

struct Value {
  Form form;
  std::vector<uint8_t> bytes;       // of a number, a struct or a string, or of a vector of numbers or structs
  std::vector<Node> items;          // of a vector of strings or tables
  std::map<uint16_t, Node> fields;  // of a table, by their numbers in the schema; a union's type is a field of its own
};

class ModelTree {
 public:
  /// `bytes`: a graph that FlatBuffers' verifier accepted.
  explicit ModelTree(const uint8_t* bytes);
  ModelTree(const ModelTree&) = delete;
  ModelTree& operator=(const ModelTree&) = delete;
  ModelTree(ModelTree&&) = default;

  /// The graph as bytes; empty where it would be larger than `most`.
  std::vector<uint8_t> bytes(size_t most) const;

  Node root;
};

/// A number of a graph where it lies.
struct Slot {
  size_t at = 0;  // bytes from the graph's first
  reflection::BaseType base = reflection::None;
  int32_t index = -1;                        // of its enumeration
  const reflection::Field* field = nullptr;  // which holds it, or the vector that does
};
/// All numbers of a graph that FlatBuffers' verifier accepted: fields, parts of structs, elements of vectors.
std::vector<Slot> slots_of(const uint8_t* graph);
/// Where its tables say that they have a field, where its vectors say how many elements they have, and what leads to them.
struct Layout {
  std::vector<size_t> links;    // offsets to tables, vectors and strings (uint32_t), and from tables to their vtables
  std::vector<size_t> ends;     // the zeros behind strings (uint8_t)
  std::vector<size_t> vtables;  // their sizes (uint16_t)
  std::vector<size_t> fields;   // entries of vtables (uint16_t), bytes from the graph's first
  std::vector<size_t> vectors;  // counts (uint32_t); elements that are offsets follow where `offsets` says so
  std::vector<bool> offsets;    // one a vector
};
Layout layout_of(const uint8_t* graph);

/// The schema's tables and enumerations.
const reflection::Schema& schema();
/// The table that a value of this form is; null: it is none.
const reflection::Object* table_of(const Form& form);
/// Bytes of a number or a struct, or of an element of a vector of them; 0 of others.
size_t inline_size(const Form& form);
/// The form of a field of a table whose fields are these: of a union as its type field says.
Form form_of(const reflection::Field& field, const std::map<uint16_t, Node>& fields);
/// A number of up to 8 bytes.
uint64_t number_of(const Value& value);
/// The field of a table, null where it has none.
const reflection::Field* field_named(const Value& table, const char* name);
/// Returns the value of the field, null if it is absent.
Value* child_named(const Value& table, const char* name);

}  // namespace bantam::fuzz

#endif  // BANTAM_TESTS_FUZZ_MODEL_TREE_H_
