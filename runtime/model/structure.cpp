// Walks the tables that the schema can reach, with an explicit stack.
#include "model/structure.h"

#include "bantam_generated.h"
#include "language.h"
#include "linked.h"

namespace bantam::structure {
namespace {

/// Numbers of the schema's tables: schemas/structure.cmake writes the rows of bantam_structure.inc.
enum class Table : uint32_t {
#define BANTAM_TABLE(name) k##name,
#include "bantam_structure.inc"
#undef BANTAM_TABLE
  kCount
};
constexpr auto kTableCount = static_cast<uint32_t>(Table::kCount);
/// The number of table `T`; kTableCount for anything else, such as a struct.
template <typename T>
constexpr uint32_t kNumber = kTableCount;
#define BANTAM_TABLE(name) \
  template <>              \
  constexpr uint32_t kNumber<fb::name> = static_cast<uint32_t>(Table::k##name);
#include "bantam_structure.inc"
#undef BANTAM_TABLE

/// Member m of the union, counted from 1, is table kUnionBase + m.
constexpr uint32_t kUnionBase = kNumber<fb::Embed> - static_cast<uint32_t>(fb::OpAttributes::Embed);
constexpr auto kUnionMembers = static_cast<uint32_t>(fb::OpAttributes::MAX);
template <typename T>
constexpr bool in_place() {
  constexpr auto kMember = static_cast<uint32_t>(fb::OpAttributesTraits<T>::enum_value);
  return kMember == 0 || kNumber<T> == kUnionBase + kMember;
}
#define BANTAM_TABLE(name) static_assert(in_place<fb::name>());
#include "bantam_structure.inc"
#undef BANTAM_TABLE

/// Returns true if this build reads tables of this type. The verifier checks offsets to other tables, but does not
/// follow them: a newer converter may write tables that an image does not know, and an image contains no description of
/// tables that it never reads.
template <typename T>
constexpr bool is_read() {
  if constexpr (fb::OpAttributesTraits<T>::enum_value != fb::OpAttributes::NONE) {
    constexpr auto kKind = fb::OpAttributesTraits<T>::enum_value;
    bool any = false;
#define BANTAM_OP(name, kind, ...) any = any || (fb::OpAttributes::kind == kKind && linked::op(linked::kOp##name));
#include "ops/ops.inc"
#undef BANTAM_OP
    return any;
  }
#define BANTAM_LINK_TABLE(Table, answer) \
  if (kSame<T, fb::Table>) return linked::answer;
#include "links.inc"
  return true;
}

template <typename T>
struct Code {  // of a table reached by an offset
  static_assert(kNumber<T> < kTableCount && kTableCount < 0x40);
  static constexpr uint8_t kVectorElement = is_read<T>() ? kTables | kNumber<T> : uint8_t{kVector4};
};
template <uint32_t kBytes>
constexpr uint8_t vector_of() {
  constexpr uint8_t code = kBytes == 1    ? kVector1
                           : kBytes == 2  ? kVector2
                           : kBytes == 4  ? kVector4
                           : kBytes == 8  ? kVector8
                           : kBytes == 12 ? kVector12
                                          : kVector16;
  static_assert(code != kVector16 || kBytes == 16);
  return code;
}
template <typename Struct>
constexpr uint8_t struct_of() {
  static_assert(sizeof(Struct) == 8 || sizeof(Struct) == 16 || sizeof(Struct) == 24);
  static_assert(alignof(Struct) == (sizeof(Struct) == 24 ? 8 : 4));
  return sizeof(Struct) == 8 ? kStruct8 : sizeof(Struct) == 16 ? kStruct16 : kStruct24;
}

/// The code of a field, derived from the type that its accessor returns.
template <typename T>
struct FieldCode {
  static_assert(!__is_class(T));
  static constexpr uint8_t kCode = sizeof(T) == 1   ? kBytes1
                                   : sizeof(T) == 2 ? kBytes2
                                   : sizeof(T) == 4 ? kBytes4
                                                    : kBytes8;
};
template <typename T>
struct FieldCode<const T*> {
  static constexpr uint8_t code() {
    if constexpr (kNumber<T> < kTableCount) {
      return is_read<T>() ? kTable | kNumber<T> : uint8_t{kBytes4};
    } else {
      return struct_of<T>();
    }
  }
  static constexpr uint8_t kCode = code();
};
template <>
struct FieldCode<const void*> {
  static constexpr uint8_t kCode = kUnion;
};
template <>
struct FieldCode<const flatbuffers::String*> {
  static constexpr uint8_t kCode = kString;
};
template <typename T>
struct FieldCode<const flatbuffers::Vector<T>*> {
  static constexpr uint8_t kCode = vector_of<sizeof(T)>();
};
template <typename T>
struct FieldCode<const flatbuffers::Vector<const T*>*> {
  static constexpr uint8_t kCode = vector_of<sizeof(T)>();
};
template <typename T>
struct FieldCode<const flatbuffers::Vector<flatbuffers::Offset<T>>*> {
  static constexpr uint8_t kCode = Code<T>::kVectorElement;
};
template <>
struct FieldCode<const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>*> {
  static constexpr uint8_t kCode = kStrings;
};

struct Field {
  uint32_t table;
  uint8_t code;
  bool read;  // is_read
};

template <bool kRequired, typename T, typename Result>
constexpr Field field(Result (T::*)() const) {
  constexpr uint8_t kCode = FieldCode<Result>::kCode;
  constexpr uint8_t kForm = kCode & kFormMask;
  static_assert(!kRequired || kForm == kLeaf || kForm == kTables);
  constexpr Form kWhereRequired = kForm == kLeaf ? kRequiredLeaf : kRequiredTables;
  return {kNumber<T>, kRequired ? static_cast<uint8_t>(kCode | kWhereRequired) : kCode, is_read<T>()};
}

// The fields of every table, in the order of their ids.
constexpr Field kList[] = {
#define BANTAM_FIELD(table, name, required) field<required>(&fb::table::name),
#include "bantam_structure.inc"
#undef BANTAM_FIELD
};
constexpr uint32_t count_fields() {
  uint32_t count = 0;
  for (const Field& field : kList) count += field.read ? 1 : 0;
  return count;
}
constexpr uint32_t kFieldCount = count_fields();
static_assert(kFieldCount <= UINT16_MAX);
// hosts expose it through schema()
using FieldNumber = Choose<!linked::kHost && kFieldCount <= UINT8_MAX, uint8_t, uint16_t>;

struct Tabulated {
  uint8_t fields[kFieldCount] = {};
  FieldNumber begin[kTableCount + 1] = {};
  bool in_order = true;

  constexpr Tabulated() {
    uint32_t table = 0, number = 0;
    for (const Field& field : kList) {
      in_order = in_order && field.table >= table;
      while (table < field.table) begin[++table] = static_cast<FieldNumber>(number);
      if (field.read) fields[number++] = field.code;
    }
    while (table < kTableCount) begin[++table] = static_cast<FieldNumber>(number);
  }
};
static_assert(Tabulated().in_order);
constexpr Tabulated kSchema;

/// The offset of the root table, the table's offset to its vtable, and the sizes of vtable and table.
constexpr uint32_t kLeastBytes = 4 + 4 + 2 + 2;
/// Offsets are signed 32-bit numbers.
constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - 2;

/// A table whose fields are being checked or, while `left` is not 0, the vector of tables in its last checked field.
struct Frame {
  uint32_t table;
  uint32_t next;  // next element of the vector
  uint32_t left;  // elements from `next` on
  uint8_t type;
  uint16_t field;  // next field, an index into kSchema.fields
};

class Walk {
 public:
  Walk(const uint8_t* bytes, uint32_t size)
      : bytes_(bytes),
        size_(size),
        tables_(size / kLeastTableBytes),
        strings_(size / kLeastStringBytes),
        contents_(uint64_t{kMostCopies} * size) {}

  bool run() {
    if (size_ < kLeastBytes) return false;
    for (uint32_t i = 0; i < flatbuffers::kFileIdentifierLength; ++i) {
      if (bytes_[4 + i] != static_cast<uint8_t>(fb::ModelIdentifier()[i])) return false;
    }
    const uint32_t root = follow(0);
    if (root == 0 || !enter(root, 0)) return false;
    while (depth_ > 0) {
      Frame& frame = stack_[depth_ - 1];
      if (frame.left > 0) {
        const uint32_t at = frame.next;
        frame.next += 4;
        --frame.left;
        if (!enter_at(at, kSchema.fields[frame.field - 1] & 0x3F)) return false;
      } else if (!check_fields(frame)) {
        return false;
      }
    }
    return true;
  }

 private:
  template <typename T>
  T read(uint32_t at) const {
    return flatbuffers::ReadScalar<T>(bytes_ + at);
  }
  bool holds(uint32_t at, uint32_t size) const { return size < size_ && at <= size_ - size; }
  /// `alignment` must be a power of two.
  bool holds_aligned(uint32_t at, uint32_t size, uint32_t alignment) const {
    return (at & (alignment - 1)) == 0 && holds(at, size);
  }

  /// Returns the target of the offset at `at`; 0 if it is invalid.
  uint32_t follow(uint32_t at) const {
    if (!holds_aligned(at, 4, 4)) return 0;
    const auto offset = read<uint32_t>(at);
    return offset != 0 && offset < size_ && holds(at + offset, 1) ? at + offset : 0;
  }

  /// Returns true if the vector at `at` lies inside the buffer. `end`: the first byte after it.
  bool check_vector(uint32_t at, uint32_t element, uint32_t* end) {
    if (!holds_aligned(at, 4, 4)) return false;
    const auto count = read<uint32_t>(at);
    // the second test also bounds the product
    if (count > size_ / element || count * element > contents_) return false;
    contents_ -= count * element;
    *end = at + 4 + count * element;
    return holds(at, 4 + count * element);
  }

  bool check_string(uint32_t at) {
    uint32_t end = 0;
    return check_vector(at, 1, &end) && holds(end, 1) && bytes_[end] == 0;
  }

  bool check_strings(uint32_t at) {
    uint32_t end = 0;
    if (!check_vector(at, 4, &end)) return false;
    const uint32_t strings = (end - at - 4) / 4;
    if (strings > strings_) return false;
    strings_ -= strings;
    for (at += 4; at < end; at += 4) {
      const auto offset = read<uint32_t>(at);
      if (offset >= size_ || !check_string(at + offset)) return false;
    }
    return true;
  }

  /// Enters the table that the vector element at `at` refers to.
  bool enter_at(uint32_t at, uint32_t type) {
    const auto offset = read<uint32_t>(at);
    return offset < size_ && enter(at + offset, type);
  }

  bool enter(uint32_t table, uint32_t type) {
    if (depth_ == kMaxDepth || tables_ == 0 || !holds_aligned(table, 4, 4)) return false;
    --tables_;
    const uint32_t vtable = table - read<uint32_t>(table);
    if (!holds_aligned(vtable, 2, 2)) return false;
    const uint32_t bytes = read<uint16_t>(vtable);
    if ((bytes & 1) != 0 || !holds(vtable, bytes)) return false;
    stack_[depth_++] = {table, 0, 0, static_cast<uint8_t>(type), kSchema.begin[type]};
    return true;
  }

  /// Checks the frame's next fields until one refers to another table, which is entered. Leaves the table after the
  /// last field.
  bool check_fields(Frame& frame) {
    const uint32_t vtable = frame.table - read<uint32_t>(frame.table);
    const uint32_t vtable_bytes = read<uint16_t>(vtable);
    const uint32_t end = kSchema.begin[frame.type + 1u];
    // Position of the field; 0 if it is absent.
    const auto find = [&](uint32_t field) -> uint32_t {
      const uint32_t entry = 4 + 2 * (field - kSchema.begin[frame.type]);
      const uint32_t offset = entry < vtable_bytes ? read<uint16_t>(vtable + entry) : 0;
      return offset == 0 ? 0 : frame.table + offset;
    };
    for (uint32_t field = frame.field; field < end; ++field) {
      const uint32_t code = kSchema.fields[field];
      const uint32_t at = find(field);
      if (at == 0) {
        if ((code & kFormMask) == kRequiredTables || (code & (kFormMask | kRequiredLeaf)) == kRequiredLeaf)
          return false;
        continue;
      }
      const uint32_t leaf = code & ~uint32_t{kRequiredLeaf};
      if (leaf <= kStruct24) {
        static constexpr uint8_t kSize[] = {1, 2, 4, 8, 8, 16, 24};
        static constexpr uint8_t kAlignment[] = {1, 2, 4, 8, 4, 4, 8};
        if (!holds_aligned(at, kSize[leaf], kAlignment[leaf])) return false;
        continue;
      }
      const uint32_t target = follow(at);
      if (target == 0) return false;
      frame.field = static_cast<uint16_t>(field + 1);
      uint32_t vector_end = 0;
      if (code >= kTables) {
        if (!check_vector(target, 4, &vector_end)) return false;
        frame.next = target + 4;
        frame.left = (vector_end - frame.next) / 4;
        return true;
      }
      if (code >= kTable) return enter(target, code & 0x3F);
      if (leaf == kUnion) {
        const uint32_t type_at = find(field - 1);
        const uint32_t type = type_at == 0 ? 0 : bytes_[type_at];
        if (type != 0 && type <= kUnionMembers) return enter(target, kUnionBase + type);
      } else if (leaf <= kStrings) {
        if (!(leaf == kString ? check_string(target) : check_strings(target))) return false;
      } else {
        static constexpr uint8_t kElement[] = {1, 2, 4, 8, 12, 16};
        if (!check_vector(target, kElement[leaf - kVector1], &vector_end)) return false;
      }
    }
    --depth_;
    return true;
  }

  const uint8_t* bytes_;
  uint32_t size_;
  uint32_t tables_;    // tables that may still be entered
  uint32_t strings_;   // strings of vectors that may still be checked
  uint64_t contents_;  // bytes of vectors and strings that may still be checked
  uint32_t depth_ = 0;
  Frame stack_[kMaxDepth];
};

}  // namespace

#if BANTAM_LINK_HOST
Schema schema() { return {kSchema.fields, kSchema.begin, kTableCount, kUnionBase, kUnionMembers}; }
#endif

bool is_well_formed(const uint8_t* bytes, uint64_t size) {
  return size <= kMostBytes && Walk(bytes, static_cast<uint32_t>(size)).run();
}

}  // namespace bantam::structure
