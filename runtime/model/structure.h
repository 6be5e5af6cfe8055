// The structure of the graph section: checks that its bytes are a FlatBuffer of the schema.
#ifndef BANTAM_MODEL_STRUCTURE_H_
#define BANTAM_MODEL_STRUCTURE_H_

#include <stdint.h>

namespace bantam::structure {

/// One byte per field of the schema's tables, in the schema's order: the upper bits are its form, and the lower five or
/// six bits what the form describes.
enum Form : uint8_t {
  kLeaf = 0x00,            // a Leaf
  kRequiredLeaf = 0x20,    // a Leaf that must be present
  kTable = 0x40,           // number of the table's type
  kTables = 0x80,          // vector of tables: number of their type
  kRequiredTables = 0xC0,  // the same, must be present
};
constexpr uint8_t kFormMask = 0xC0;  // kLeaf and kRequiredLeaf differ in the next bit

enum Leaf : uint8_t {
  // Inline: value or struct.
  kBytes1,
  kBytes2,
  kBytes4,
  kBytes8,
  kStruct8,   // alignment 4
  kStruct16,  // alignment 4
  kStruct24,  // alignment 8
  // At the end of an offset.
  kString,
  kStrings,  // vector of strings
  kVector1,  // vector of elements of this many bytes
  kVector2,
  kVector4,
  kVector8,
  kVector12,
  kVector16,
  kUnion,  // its type is in the preceding field
};

/// The schema as the verifier represents it: fields of type t are kFields[kBegin[t], kBegin[t + 1]), the root is type
/// 0, and member m of the only union (counted from 1) is type kUnionBase + m.
struct Schema {
  const uint8_t* fields;
  const uint16_t* begin;
  uint32_t types;
  uint32_t union_base;
  uint32_t union_members;
};
/// Hosts only: images omit tables that they do not read.
Schema schema();

/// Returns true if bytes[0, size) are a FlatBuffer with the schema's identifier in which every offset, vector, string
/// and table that the schema can reach lies inside the buffer and is aligned, all required fields are present, and
/// tables nest at most kMaxDepth deep. Every table counts as at least kLeastTableBytes of `size` and every string of a
/// vector as kLeastStringBytes, so that shared ones cannot make the check slow: O(size). Nor can sharing make copies of
/// the graph large: vectors and strings, each counted as often as it is referenced, have at most kMostCopies * size
/// bytes. Accepts the buffers that flatbuffers::Verifier accepts, except those that share more than this; does not
/// recurse. `bytes` is 8-byte aligned.
bool is_well_formed(const uint8_t* bytes, uint64_t size);

constexpr uint32_t kMaxDepth = 12;
/// A table, the vector entry that refers to it and its share of a vtable take at least this many bytes.
constexpr uint32_t kLeastTableBytes = 8;
/// The vector entry that refers to a string, its length and its terminator.
constexpr uint32_t kLeastStringBytes = 9;
/// The converter shares nothing; other writers may share, for example, equal names.
constexpr uint32_t kMostCopies = 4;

}  // namespace bantam::structure

#endif  // BANTAM_MODEL_STRUCTURE_H_
