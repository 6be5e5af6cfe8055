#include "tests/fuzz/model_tree.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bantam_generated.h"

namespace bantam::fuzz {
namespace {

using reflection::BaseType;

bool is_number(BaseType base) { return base >= reflection::UType && base <= reflection::Double; }

const reflection::Object& object(int32_t index) {
  return *schema().objects()->Get(static_cast<flatbuffers::uoffset_t>(index));
}
bool is_struct(BaseType base, int32_t index) { return base == reflection::Obj && object(index).is_struct(); }

/// Returns the fields of a table by number; the schema sorts them by name.
const std::vector<const reflection::Field*>& fields_of(int32_t index) {
  static const std::vector<std::vector<const reflection::Field*>> all = [] {
    std::vector<std::vector<const reflection::Field*>> made;
    for (const reflection::Object* table : *schema().objects()) {
      std::vector<const reflection::Field*> fields(table->fields()->size());
      for (const reflection::Field* field : *table->fields()) fields[field->id()] = field;
      made.push_back(std::move(fields));
    }
    return made;
  }();
  return all[static_cast<size_t>(index)];
}

/// Returns the form of a vector's elements.
Form element_of(const Form& form) { return {form.element, reflection::None, form.index}; }

size_t size_of(const Form& form) {
  if (is_number(form.base)) return flatbuffers::GetTypeSize(form.base);
  return is_struct(form.base, form.index) ? static_cast<size_t>(object(form.index).bytesize()) : 0;
}
size_t alignment_of(const Form& form) {
  return is_number(form.base) ? size_of(form) : static_cast<size_t>(object(form.index).minalign());
}

/// Reads values; a value that several fields share is read once.
class Reader {
 public:
  Node table(const flatbuffers::Table* table, int32_t index) {
    Node& known = known_[table];
    if (known != nullptr) return known;
    Node node = std::make_shared<Value>();
    known = node;
    node->form = {reflection::Obj, reflection::None, index};
    // The type field of a union has a lower number than the union.
    for (const reflection::Field* field : fields_of(index)) {
      const uint8_t* at = table->GetAddressOf(field->offset());
      if (at == nullptr) continue;
      const Form form = form_of(*field, node->fields);
      if (form.base != reflection::None) node->fields[field->id()] = value(at, form);
    }
    return node;
  }

 private:
  Node value(const uint8_t* at, const Form& form) {
    const size_t size = size_of(form);
    if (size != 0) {
      Node node = std::make_shared<Value>();
      node->form = form;
      node->bytes.assign(at, at + size);
      return node;
    }
    const uint8_t* to = at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at);
    if (form.base == reflection::Obj) return table(reinterpret_cast<const flatbuffers::Table*>(to), form.index);
    Node& known = known_[to];
    if (known != nullptr) return known;
    Node node = std::make_shared<Value>();
    known = node;
    node->form = form;
    const auto count = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(to);
    const uint8_t* items = to + sizeof(flatbuffers::uoffset_t);
    const Form element = form.base == reflection::String ? Form{} : element_of(form);
    const size_t each = form.base == reflection::String ? 1 : size_of(element);
    if (each != 0) {
      node->bytes.assign(items, items + count * each);
      return node;
    }
    for (flatbuffers::uoffset_t i = 0; i < count; ++i) {
      node->items.push_back(value(items + i * sizeof(flatbuffers::uoffset_t), element));
    }
    return node;
  }

  std::unordered_map<const void*, Node> known_;
};

/// Finds numbers, vtable entries and vectors, each once.
class Slots {
 public:
  explicit Slots(const uint8_t* graph) : graph_(graph) {}

  void add_table(const flatbuffers::Table* table, int32_t index) {
    if (!seen_.insert(table).second) return;
    const uint8_t* entries = table->GetVTable();
    const bool is_new = seen_.insert(entries).second;
    layout.links.push_back(place_of(reinterpret_cast<const uint8_t*>(table)));
    if (is_new) layout.vtables.push_back(place_of(entries));
    std::map<uint16_t, Node> kinds;  // the types of unions, which have lower numbers than the unions
    for (const reflection::Field* field : fields_of(index)) {
      const uint8_t* at = table->GetAddressOf(field->offset());
      if (at == nullptr) continue;
      const Form form = form_of(*field, kinds);
      if (form.base == reflection::UType) {
        kinds[field->id()] = std::make_shared<Value>();
        kinds[field->id()]->bytes.assign(at, at + 1);
      }
      if (is_new) layout.fields.push_back(place_of(entries + field->offset()));
      if (form.base != reflection::None) add(at, form, field);
    }
  }
  std::vector<Slot> found;
  Layout layout;

 private:
  size_t place_of(const uint8_t* at) const { return static_cast<size_t>(at - graph_); }

  void add(const uint8_t* at, const Form& form, const reflection::Field* holder) {
    if (is_struct(form.base, form.index)) {
      for (const reflection::Field* field : *object(form.index).fields())
        add(at + field->offset(), {field->type()->base_type(), reflection::None, field->type()->index()}, field);
      return;
    }
    if (is_number(form.base)) {
      found.push_back({place_of(at), form.base, form.index, holder});
      return;
    }
    layout.links.push_back(place_of(at));
    const uint8_t* to = at + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(at);
    if (form.base == reflection::Obj) return add_table(reinterpret_cast<const flatbuffers::Table*>(to), form.index);
    if (form.base == reflection::String)
      layout.ends.push_back(place_of(to) + sizeof(flatbuffers::uoffset_t) +
                            flatbuffers::ReadScalar<flatbuffers::uoffset_t>(to));
    if (form.base != reflection::Vector || !seen_.insert(to).second) return;
    const Form element = element_of(form);
    const size_t size = size_of(element);
    layout.vectors.push_back(place_of(to));
    layout.offsets.push_back(size == 0);
    const auto count = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(to);
    for (flatbuffers::uoffset_t i = 0; i < count; ++i)
      add(to + sizeof(flatbuffers::uoffset_t) + i * (size != 0 ? size : sizeof(flatbuffers::uoffset_t)), element,
          holder);
  }

  const uint8_t* graph_;
  std::unordered_set<const void*> seen_;
};

/// Returns the index of the root among the schema's objects.
int32_t root_index() {
  const auto& objects = *schema().objects();
  int32_t index = 0;
  while (objects.Get(static_cast<flatbuffers::uoffset_t>(index)) != schema().root_table()) ++index;
  return index;
}

/// Writes values, each once. A table that contains itself would be infinite, so it is omitted.
class Writer {
 public:
  explicit Writer(size_t most) : most_(most) { builder_.ForceDefaults(true); }

  std::vector<uint8_t> bytes(const Node& root) {
    const flatbuffers::uoffset_t at = place(root.get());
    if (at == 0 || is_full()) return {};
    builder_.Finish(flatbuffers::Offset<flatbuffers::Table>(at), fb::ModelIdentifier());
    return {builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize()};
  }

 private:
  bool is_full() const { return builder_.GetSize() > most_; }

  /// Returns 0 if the value is omitted.
  flatbuffers::uoffset_t place(const Value* value) {
    const auto [known, is_new] = places_.emplace(value, 0);
    if (!is_new || is_full()) return known->second;
    const flatbuffers::uoffset_t at = value->form.base == reflection::String   ? string(*value)
                                      : value->form.base == reflection::Vector ? vector(*value)
                                                                               : table(*value);
    places_[value] = at;
    return at;
  }

  flatbuffers::uoffset_t string(const Value& value) {
    return builder_.CreateString(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()).o;
  }

  void start_vector(size_t count, size_t size, size_t alignment) {
    builder_.ForceVectorAlignment(count, size, alignment);
#if FLATBUFFERS_VERSION_MAJOR < 22
    builder_.StartVector(count, size);
#else
    builder_.StartVector(count, size, alignment);
#endif
  }

  flatbuffers::uoffset_t vector(const Value& value) {
    const Form element = element_of(value.form);
    const size_t size = size_of(element);
    if (size != 0) {
      const size_t count = value.bytes.size() / size;
      start_vector(count, size, alignment_of(element));
      builder_.PushBytes(value.bytes.data(), count * size);
      return builder_.EndVector(count);
    }
    std::vector<flatbuffers::Offset<void>> items;
    for (const Node& item : value.items) {
      const flatbuffers::uoffset_t at = place(item.get());
      if (at != 0) items.emplace_back(at);
    }
    return builder_.CreateVector(items.data(), items.size()).o;
  }

  flatbuffers::uoffset_t table(const Value& value) {
    std::map<uint16_t, flatbuffers::uoffset_t> places;
    for (const auto& [number, field] : value.fields) {
      if (size_of(field->form) == 0) places[number] = place(field.get());
    }
    const flatbuffers::uoffset_t start = builder_.StartTable();
    for (const auto& [number, field] : value.fields) {
      const auto offset = static_cast<flatbuffers::voffset_t>(flatbuffers::FieldIndexToOffset(number));
      const auto placed = places.find(number);
      if (placed != places.end()) {
        if (placed->second != 0) builder_.AddOffset(offset, flatbuffers::Offset<void>(placed->second));
        continue;
      }
      builder_.Align(alignment_of(field->form));
      builder_.PushBytes(field->bytes.data(), size_of(field->form));
      builder_.TrackField(offset, builder_.GetSize());
    }
    return builder_.EndTable(start);
  }

  size_t most_;
  flatbuffers::FlatBufferBuilder builder_;
  std::unordered_map<const Value*, flatbuffers::uoffset_t> places_;
};

}  // namespace

const reflection::Schema& schema() {
  static const std::string bytes = [] {
    std::ifstream file(BANTAM_SCHEMA, std::ios::binary);
    std::string read((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(read.data()), read.size());
    if (!reflection::VerifySchemaBuffer(verifier)) throw std::runtime_error(BANTAM_SCHEMA " is not a schema");
    return read;
  }();
  return *reflection::GetSchema(bytes.data());
}

const reflection::Object* table_of(const Form& form) {
  return form.base == reflection::Obj && !object(form.index).is_struct() ? &object(form.index) : nullptr;
}

size_t inline_size(const Form& form) {
  if (form.base == reflection::Vector) return size_of(element_of(form));
  return size_of(form);
}

uint64_t number_of(const Value& value) {
  uint64_t number = 0;
  std::memcpy(&number, value.bytes.data(), std::min<size_t>(value.bytes.size(), sizeof(number)));
  return number;
}

Form form_of(const reflection::Field& field, const std::map<uint16_t, Node>& fields) {
  const reflection::Type& type = *field.type();
  if (type.base_type() != reflection::Union) return {type.base_type(), type.element(), type.index()};
  const auto kind = fields.find(static_cast<uint16_t>(field.id() - 1));
  const uint64_t chosen = kind == fields.end() ? 0 : number_of(*kind->second);
  const reflection::Enum& kinds = *schema().enums()->Get(static_cast<flatbuffers::uoffset_t>(type.index()));
  for (const reflection::EnumVal* one : *kinds.values()) {
    if (chosen != 0 && static_cast<uint64_t>(one->value()) == chosen) {
      return {reflection::Obj, reflection::None, one->union_type()->index()};
    }
  }
  return {};
}

const reflection::Field* field_named(const Value& table, const char* name) {
  const reflection::Object* object = table_of(table.form);
  return object == nullptr ? nullptr : object->fields()->LookupByKey(name);
}

Value* child_named(const Value& table, const char* name) {
  const reflection::Field* field = field_named(table, name);
  const auto found = field == nullptr ? table.fields.end() : table.fields.find(field->id());
  return found == table.fields.end() ? nullptr : found->second.get();
}

ModelTree::ModelTree(const uint8_t* bytes) {
  root = Reader().table(flatbuffers::GetRoot<flatbuffers::Table>(bytes), root_index());
}

std::vector<Slot> slots_of(const uint8_t* graph) {
  Slots slots(graph);
  slots.add_table(flatbuffers::GetRoot<flatbuffers::Table>(graph), root_index());
  return slots.found;
}

Layout layout_of(const uint8_t* graph) {
  Slots slots(graph);
  slots.add_table(flatbuffers::GetRoot<flatbuffers::Table>(graph), root_index());
  return slots.layout;
}

std::vector<uint8_t> ModelTree::bytes(size_t most) const { return Writer(most).bytes(root); }

}  // namespace bantam::fuzz
