#include "tests/fuzz/model_mutator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "format/view.h"
#include "tests/fuzz/model_tree.h"

namespace bantam::fuzz {
namespace {

/// Values that numbers are often compared with, and values that overflow.
constexpr uint64_t kOdd[] = {0,
                             1,
                             2,
                             3,
                             4,
                             7,
                             8,
                             9,
                             15,
                             16,
                             17,
                             31,
                             32,
                             33,
                             63,
                             64,
                             65,
                             100,
                             127,
                             128,
                             129,
                             255,
                             256,
                             257,
                             511,
                             512,
                             1000,
                             1024,
                             4095,
                             4096,
                             4097,
                             16384,
                             32767,
                             32768,
                             65535,
                             65536,
                             66311,
                             66312,
                             131071,
                             131072,
                             1 << 20,
                             1 << 22,
                             1 << 24,
                             1 << 28,
                             1 << 30,
                             0x7FFFFFF0,
                             0x7FFFFFFF,
                             0x80000000,
                             0xFFFFFFF0,
                             0xFFFFFFF8,
                             0xFFFFFFFF,
                             uint64_t{1} << 32,
                             uint64_t{1} << 40,
                             uint64_t{1} << 63,
                             UINT64_MAX - 63,
                             UINT64_MAX};
constexpr double kOddFloats[] = {0,   -0.0, 1,  -1,  1e-12,    1e30,      3.4e38, -3.4e38, 1e-38,
                                 0.5, 127,  88, -87, INFINITY, -INFINITY, NAN,    1e300};

/// Fields that determine the kind of a tensor, and the last value of each.
constexpr std::pair<const char*, uint64_t> kKinds[] = {{"type", static_cast<uint64_t>(fb::DType::MAX)},
                                                       {"layout", static_cast<uint64_t>(fb::Layout::MAX)},
                                                       {"role", static_cast<uint64_t>(fb::Role::MAX)},
                                                       {"scale_kind", static_cast<uint64_t>(fb::ScaleKind::MAX)},
                                                       {"region", static_cast<uint64_t>(fb::Region::MAX)}};

/// Returns a number that sizes and counts seldom have.
uint64_t odd_number(std::mt19937_64& random) { return random() % 6 == 0 ? random() : kOdd[random() % std::size(kOdd)]; }

/// The parts of a file.
struct Parts {
  ModelTree tree;
  std::vector<uint8_t> data;
};

std::optional<Parts> parts_of(const std::vector<uint8_t>& file) {
  FileHeader header;
  const uint8_t* graph = graph_of(file, &header);
  if (graph == nullptr) return std::nullopt;
  const uint8_t* data = file.data() + header.data_offset;
  return Parts{ModelTree(graph), {data, data + header.data_size}};
}

std::optional<std::vector<uint8_t>> file_of(const Parts& parts, size_t most) {
  const std::vector<uint8_t> graph = parts.tree.bytes(most);
  if (graph.empty()) return std::nullopt;
  FileHeader header;
  header.graph_offset = kFileAlignment;
  header.graph_size = graph.size();
  header.data_offset = round_up(header.graph_offset + graph.size(), kFileAlignment);
  header.data_size = parts.data.size();
  header.file_size = header.data_offset + header.data_size;
  if (header.file_size > most) return std::nullopt;
  std::vector<uint8_t> file(static_cast<size_t>(header.file_size));
  std::copy(graph.begin(), graph.end(), file.begin() + kFileAlignment);
  std::copy(parts.data.begin(), parts.data.end(), file.begin() + static_cast<std::ptrdiff_t>(header.data_offset));
  seal(header, file.data());
  return file;
}

void add_tables(const Node& node, std::unordered_set<const Value*>* seen, std::vector<Node>* out) {
  if (!seen->insert(node.get()).second) return;
  if (table_of(node->form) != nullptr) out->push_back(node);
  for (const auto& field : node->fields) add_tables(field.second, seen, out);
  for (const Node& item : node->items) add_tables(item, seen, out);
}

/// Returns all tables below a value, each once.
std::vector<Node> tables_below(const Node& root) {
  std::unordered_set<const Value*> seen;
  std::vector<Node> tables;
  add_tables(root, &seen, &tables);
  return tables;
}

class Mutator {
 public:
  Mutator(Parts* parts, const Parts& other, uint64_t seed) : parts_(*parts), other_(other), random_(seed) {}

  void run() {
    const uint64_t changes = chance(3) ? 1 + below(4) : 1;
    for (uint64_t i = 0; i < changes; ++i) {
      switch (below(20)) {
        case 0:
        case 1:
          change_data();
          break;
        case 2:
          move_blob_to_end();
          break;
        case 3:
          change_width();
          plan();
          break;
        case 4:
          plan();
          break;
        case 5:
        case 6:
          take_from(parts_);
          break;
        case 7:
          take_from(other_);
          break;
        case 8:
        case 9:
          remake_tensor();
          if (chance(2)) plan();
          break;
        case 10:
        case 11:
          change_operand();
          break;
        default:
          change_field();
          if (chance(4)) plan();
      }
    }
  }

  /// Calls `use` after each change of one operand, and then undoes the change. For each kind of operator and each of
  /// its operands, the change is another tensor of each kind, none, or this tensor with another type, layout, role,
  /// region, scale or shape; for each position in an operator's fields, every other position.
  void change_operands(const std::function<void()>& use) {
    std::set<std::tuple<uint64_t, uint64_t, std::string>> seen;  // those of earlier ops
    const std::vector<Value*> all = tensors();
    const std::vector<int32_t> others = first_of_each_kind(all);
    for (const Node& op : tables_below(parts_.tree.root)) {
      if (field_named(*op, "attributes_type") == nullptr) continue;
      const uint64_t kind = number_named(*op, "attributes_type"), numerics = number_named(*op, "numerics");
      for (const char* list : {"inputs", "outputs"}) {
        Value* operands = child_named(*op, list);
        const size_t count = operands == nullptr ? 0 : operands->bytes.size() / sizeof(int32_t);
        for (size_t at = 0; at < count; ++at) {
          if (!seen.insert({kind, numerics, list + std::to_string(at)}).second) continue;
          uint8_t* place = operands->bytes.data() + at * sizeof(int32_t);
          int32_t index;
          std::memcpy(&index, place, sizeof(index));
          for (const int32_t other : others) {
            std::memcpy(place, &other, sizeof(other));
            use();
          }
          std::memcpy(place, &index, sizeof(index));
          if (index >= 0 && static_cast<size_t>(index) < all.size()) remake_each(all[static_cast<size_t>(index)], use);
        }
      }
      const Value* inputs = child_named(*op, "inputs");
      const size_t count = inputs == nullptr ? 0 : inputs->bytes.size() / sizeof(int32_t);
      for (const char* part : {"attributes", "epilogue", "integer"}) {
        Value* table = child_named(*op, part);
        if (table == nullptr || table_of(table->form) == nullptr) continue;
        for (const reflection::Field* field : *table_of(table->form)->fields()) {
          if (field->type()->base_type() != reflection::Byte || field->default_integer() != -1) continue;
          if (!seen.insert({kind, numerics, part + field->name()->str()}).second) continue;
          const std::map<uint16_t, Node> before = table->fields;
          for (uint64_t position = 0; position < count + 2; ++position) {
            set_number(table, field->name()->c_str(), position - 1);
            use();
          }
          table->fields = before;
        }
      }
    }
  }

 private:
  /// Returns -1 and the index of the first tensor of each role, type, layout, region, kind of scale and first
  /// dimension.
  static std::vector<int32_t> first_of_each_kind(const std::vector<Value*>& all) {
    std::set<std::vector<uint64_t>> kinds;
    std::vector<int32_t> indices = {-1};
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<uint64_t> kind;
      for (const auto& [name, last] : kKinds) kind.push_back(number_named(*all[i], name));
      const std::vector<fb::Dim> shape = shape_of(*all[i]);
      kind.push_back(shape.size());
      if (!shape.empty()) kind.push_back(static_cast<uint64_t>(shape[0].symbol()));
      if (kinds.insert(kind).second) indices.push_back(static_cast<int32_t>(i));
    }
    return indices;
  }

  /// Calls `use` with the tensor changed in each way, with the data that the change may need.
  void remake_each(Value* tensor, const std::function<void()>& use) {
    const std::map<uint16_t, Node> before = tensor->fields;
    const size_t data = parts_.data.size();
    const auto use_and_restore = [&] {
      give_all_bytes(tensor);
      use();
      tensor->fields = before;
      parts_.data.resize(data);
    };
    for (const auto& [field, last] : kKinds) {
      const uint64_t held = number_named(*tensor, field);
      for (uint64_t value = 0; value <= last; ++value) {
        if (value == held) continue;
        set_number(tensor, field, value);
        use_and_restore();
      }
    }
    const std::vector<fb::Dim> shape = shape_of(*tensor);
    if (shape.empty()) return;
    const fb::Dim rows = shape[0], columns = shape.back();
    const auto constant = [](int32_t number) { return fb::Dim(-1, 0, std::max(1, number), 1); };
    std::vector<std::vector<fb::Dim>> shapes;
    const auto with = [&](size_t at, const fb::Dim& dim) {
      shapes.push_back(shape);
      shapes.back()[at] = dim;
    };
    for (int32_t symbol = 0; symbol < 3; ++symbol) with(0, fb::Dim(symbol, 1, 0, 1));
    for (const int32_t number : {1, 4, 16, rows.b() + 1, rows.b() - 1}) with(0, constant(number));
    for (const int32_t number : {columns.b() + 1, columns.b() * 2}) with(shape.size() - 1, constant(number));
    shapes.push_back(shape);
    shapes.back().push_back(constant(1));
    shapes.emplace_back(shape.begin(), shape.end() - (shape.size() > 1 ? 1 : 0));
    const bool is_constant = number_named(*tensor, "role") == static_cast<uint64_t>(fb::Role::constant);
    for (const std::vector<fb::Dim>& one : shapes) {
      set_shape(tensor, one);
      use_and_restore();
      if (is_constant == (one[0].symbol() < 0)) continue;  // otherwise the tensor moves into the arena or out of it
      set_shape(tensor, one);
      set_number(tensor, "role", static_cast<uint64_t>(is_constant ? fb::Role::activation : fb::Role::constant));
      const std::vector<std::pair<Node, std::map<uint16_t, Node>>> fields = all_fields();
      plan();
      use_and_restore();
      for (const auto& [table, held] : fields) table->fields = held;
      tensor->fields = before;
    }
  }

  std::vector<std::pair<Node, std::map<uint16_t, Node>>> all_fields() {
    std::vector<std::pair<Node, std::map<uint16_t, Node>>> fields;
    for (const Node& table : tables_below(parts_.tree.root)) fields.emplace_back(table, table->fields);
    return fields;
  }

  /// Appends more data, scales and sums than a constant may need.
  void give_all_bytes(Value* tensor) {
    if (number_named(*tensor, "role") != static_cast<uint64_t>(fb::Role::constant)) return;
    uint64_t elements = 1;
    for (const fb::Dim& dim : shape_of(*tensor)) elements *= (static_cast<uint64_t>(dim.b()) & 0xFFFF) + 16;
    const auto size = static_cast<size_t>(std::min<uint64_t>(elements * 8, 1U << 18));
    give_bytes(tensor, "data", size);
    if (number_named(*tensor, "scale_kind") == 0) return;
    give_bytes(tensor, "scales", size);
    give_bytes(tensor, "sums", size);
  }

  uint64_t below(uint64_t n) { return n == 0 ? 0 : random_() % n; }
  bool chance(uint64_t one_in) { return below(one_in) == 0; }

  /// Chooses a table: with equal probability for each kind, or for each table.
  Node choose(const std::vector<Node>& tables, const Form* like = nullptr) {
    std::map<int32_t, std::vector<Node>> kinds;
    for (const Node& table : tables) {
      if (like == nullptr || table->form == *like) kinds[table->form.index].push_back(table);
    }
    if (kinds.empty()) return nullptr;
    if (like == nullptr && chance(3)) return tables[below(tables.size())];
    const auto& of_kind = std::next(kinds.begin(), static_cast<std::ptrdiff_t>(below(kinds.size())))->second;
    return of_kind[below(of_kind.size())];
  }

  /// Changes one number of a struct.
  void change_struct(uint8_t* bytes, int32_t index) {
    const auto& fields = *schema().objects()->Get(static_cast<flatbuffers::uoffset_t>(index))->fields();
    const reflection::Field& field = *fields.Get(static_cast<flatbuffers::uoffset_t>(below(fields.size())));
    change_number(bytes + field.offset(), field.type()->base_type(), field.type()->index(), random_);
  }

  void change_inline(uint8_t* bytes, reflection::BaseType base, int32_t index) {
    base == reflection::Obj ? change_struct(bytes, index) : change_number(bytes, base, index, random_);
  }

  /// Makes a value that no file contains yet.
  Node make(const Form& form) {
    Node node = std::make_shared<Value>();
    node->form = form;
    if (form.base == reflection::String) {
      const uint64_t size = chance(4) ? below(600) : below(8);
      node->bytes.assign(size, static_cast<uint8_t>(chance(4) ? random_() : 'a' + below(26)));
    } else if (form.base != reflection::Vector && inline_size(form) != 0) {
      node->bytes.assign(inline_size(form), 0);
      change_inline(node->bytes.data(), form.base, form.index);
    } else if (form.base == reflection::Vector) {
      for (uint64_t i = below(3); i > 0; --i) add_item(node.get());
    }
    return node;
  }

  /// Adds an element to a vector: a copy, the same element again, or a new one.
  void add_item(Value* vector) {
    const size_t size = inline_size(vector->form);
    if (size != 0) {
      const size_t count = vector->bytes.size() / size, from = below(count), to = below(count + 1);
      std::vector<uint8_t> item(size, 0);
      if (count != 0) std::memcpy(item.data(), vector->bytes.data() + from * size, size);
      if (count == 0 || chance(2)) change_inline(item.data(), vector->form.element, vector->form.index);
      vector->bytes.insert(vector->bytes.begin() + static_cast<std::ptrdiff_t>(to * size), item.begin(), item.end());
      return;
    }
    const Form element = {vector->form.element, reflection::None, vector->form.index};
    Node item = make(element);
    if (!vector->items.empty() && !chance(3)) {
      item = vector->items[below(vector->items.size())];
      if (chance(2)) item = std::make_shared<Value>(*item);
    }
    vector->items.insert(vector->items.begin() + static_cast<std::ptrdiff_t>(below(vector->items.size() + 1)), item);
  }

  void change_vector(Value* vector) {
    const size_t size = inline_size(vector->form);
    const size_t count = size != 0 ? vector->bytes.size() / size : vector->items.size();
    const auto item = [&](size_t i) { return vector->bytes.begin() + static_cast<std::ptrdiff_t>(i * size); };
    const size_t a = below(count), b = below(count);
    const uint64_t how = below(6);
    if (count == 0 || how == 0) return add_item(vector);
    if (how == 1 && size != 0) {
      vector->bytes.erase(item(a), item(a + 1));
    } else if (how == 1) {
      vector->items.erase(vector->items.begin() + static_cast<std::ptrdiff_t>(a));
    } else if (how == 2 && size != 0) {
      std::swap_ranges(item(a), item(a + 1), item(b));
    } else if (how == 2) {
      std::swap(vector->items[a], vector->items[b]);
    } else if (how == 3 && chance(6)) {
      vector->bytes.clear();
      vector->items.clear();
    } else if (size != 0) {
      change_inline(&*item(a), vector->form.element, vector->form.index);
    } else if (how == 4) {
      vector->items[a] = vector->items[b];
    } else {
      change_value(vector->items[a].get());
    }
  }

  void change_value(Value* value) {
    if (value->form.base == reflection::Vector) return change_vector(value);
    if (value->form.base == reflection::String) return value->bytes.swap(make(value->form)->bytes);
    if (table_of(value->form) != nullptr) return change_field_of(value);
    change_inline(value->bytes.data(), value->form.base, value->form.index);
  }

  /// Removes, adds or changes a field of a table.
  void change_field_of(Value* table) {
    const auto& fields = *table_of(table->form)->fields();
    if (fields.size() == 0) return;
    const reflection::Field& field = *fields.Get(static_cast<flatbuffers::uoffset_t>(below(fields.size())));
    const auto held = table->fields.find(field.id());
    if (held == table->fields.end()) {
      const Form form = form_of(field, table->fields);
      if (form.base != reflection::None) table->fields[field.id()] = make(form);
    } else if (chance(4)) {
      table->fields.erase(held);
    } else {
      held->second = std::make_shared<Value>(*held->second);  // other holders of the shared value keep the old one
      change_value(held->second.get());
    }
  }

  void change_field() {
    const Node table = choose(tables_below(parts_.tree.root));
    if (table != nullptr) change_field_of(table.get());
  }

  /// Replaces a field of a table by that of another table of its kind; the two are often equal.
  void take_from(const Parts& parts) {
    const Node table = choose(tables_below(parts_.tree.root));
    const Node other = table == nullptr ? nullptr : choose(tables_below(parts.tree.root), &table->form);
    if (other == nullptr || other->fields.empty()) return;
    const auto& [number, value] =
        *std::next(other->fields.begin(), static_cast<std::ptrdiff_t>(below(other->fields.size())));
    const Node taken = value;
    if (&parts == &parts_ && chance(3)) {
      Node& own = table->fields[number];
      if (own != nullptr) other->fields[number] = own;
      own = taken;
      return;
    }
    table->fields[number] = taken;
  }

  /// Returns the blobs of all tables, as the bytes of their structs.
  std::vector<Value*> blobs() {
    std::vector<Value*> found;
    for (const Node& table : tables_below(parts_.tree.root)) {
      for (const auto& field : table->fields) {
        if (field.second->form.base == reflection::Obj && field.second->bytes.size() == sizeof(fb::Blob)) {
          found.push_back(field.second.get());
        }
      }
    }
    return found;
  }
  /// Returns the range of a blob's bytes; empty if they are outside the file.
  std::pair<size_t, size_t> place_of(const Value& blob) const {
    fb::Blob place;
    std::memcpy(&place, blob.bytes.data(), sizeof(place));
    const bool inside = place.offset() <= parts_.data.size() && place.size() <= parts_.data.size() - place.offset();
    return inside ? std::pair<size_t, size_t>(place.offset(), place.size()) : std::pair<size_t, size_t>(0, 0);
  }

  void change_data() {
    std::pair<size_t, size_t> place(0, parts_.data.size());
    const std::vector<Value*> all = blobs();
    if (!all.empty() && !chance(4)) place = place_of(*all[below(all.size())]);
    if (place.second < 8) return;
    uint8_t* bytes = parts_.data.data() + place.first;
    if (chance(8)) return std::fill(bytes, bytes + place.second, static_cast<uint8_t>(chance(2) ? 0x7F : random_()));
    for (uint64_t i = 1 + below(chance(2) ? 4 : 100); i > 0; --i) {
      const size_t at = below(place.second / 4) * 4;
      uint32_t word;
      std::memcpy(&word, bytes + at, 4);
      const uint64_t changes[] = {
          word ^ 1u << below(32), odd_number(random_), word + 1, word - 1, random_(), below(64)};
      word = static_cast<uint32_t>(changes[below(std::size(changes))]);
      std::memcpy(bytes + at, &word, 4);
    }
  }

  /// Moves a blob's content to the very end of the file, where reading one byte too many is detected; often with a few
  /// bytes fewer or more.
  void move_blob_to_end() {
    const std::vector<Value*> all = blobs();
    if (all.empty()) return;
    Value* blob = all[below(all.size())];
    const auto [offset, size] = place_of(*blob);
    const size_t wanted = chance(2)   ? size
                          : chance(2) ? size - std::min<size_t>(size, 4 * below(5))
                                      : size + 4 * below(20);
    if (size == 0 || wanted > (1U << 20)) return;
    const fb::Blob moved = repeat_at_end({offset, size}, wanted);
    std::memcpy(blob->bytes.data(), &moved, sizeof(moved));
  }

  std::vector<Value*> tensors() {
    std::vector<Value*> found;
    const Value* all = child_named(*parts_.tree.root, "tensors");
    for (size_t i = 0; all != nullptr && i < all->items.size(); ++i) {
      if (all->items[i]->form.base == reflection::Obj) found.push_back(all->items[i].get());
    }
    return found;
  }
  static uint64_t number_named(const Value& table, const char* name) {
    const Value* value = child_named(table, name);
    return value == nullptr ? 0 : number_of(*value);
  }
  static std::vector<fb::Dim> shape_of(const Value& tensor) {
    const Value* shape = child_named(tensor, "shape");
    std::vector<fb::Dim> dims(shape == nullptr ? 0 : shape->bytes.size() / sizeof(fb::Dim));
    for (size_t i = 0; i < dims.size(); ++i)
      std::memcpy(&dims[i], shape->bytes.data() + i * sizeof(fb::Dim), sizeof(fb::Dim));
    return dims;
  }

  /// Replaces one width by another in all tensors.
  void change_width() {
    std::map<int32_t, int> widths;
    for (const Value* tensor : tensors()) {
      for (const fb::Dim& dim : shape_of(*tensor)) {
        if (dim.symbol() < 0) ++widths[dim.b()];
      }
    }
    if (widths.empty()) return;
    const int32_t from = std::next(widths.begin(), static_cast<std::ptrdiff_t>(below(widths.size())))->first;
    const auto near = static_cast<int32_t>(below(5)) - 2;
    const int32_t changes[] = {from + near, static_cast<int32_t>(1 + below(70)), from / 2, from + 16};
    const int32_t to = std::max(1, changes[below(std::size(changes))]);
    for (Value* tensor : tensors()) {
      Value* shape = child_named(*tensor, "shape");
      const std::vector<fb::Dim> dims = shape_of(*tensor);
      for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i].symbol() >= 0 || dims[i].b() != from) continue;
        const fb::Dim changed(-1, 0, to, 1);
        std::memcpy(shape->bytes.data() + i * sizeof(changed), &changed, sizeof(changed));
      }
    }
  }

  /// Sets the field to `size` bytes: a number, a struct, or a vector of them.
  static void set_bytes(Value* table, const char* name, const void* bytes, size_t size) {
    const reflection::Field* field = field_named(*table, name);
    Node node = std::make_shared<Value>();
    node->form = form_of(*field, table->fields);
    const auto* first = static_cast<const uint8_t*>(bytes);
    node->bytes.assign(first, first + size);
    table->fields[field->id()] = node;
  }
  static void set_number(Value* table, const char* name, uint64_t number) {
    set_bytes(table, name, &number, inline_size(form_of(*field_named(*table, name), table->fields)));
  }
  static void set_shape(Value* tensor, const std::vector<fb::Dim>& shape) {
    set_bytes(tensor, "shape", shape.data(), shape.size() * sizeof(fb::Dim));
  }

  /// Appends `wanted` bytes to the data, which repeat those of a blob in this range; returns the new blob.
  fb::Blob repeat_at_end(std::pair<size_t, size_t> place, size_t wanted) {
    std::vector<uint8_t> bytes(wanted);
    for (size_t i = 0; i < wanted && place.second != 0; ++i) bytes[i] = parts_.data[place.first + i % place.second];
    parts_.data.resize(round_up(parts_.data.size(), kFileAlignment));
    const fb::Blob blob(parts_.data.size(), wanted, 0, 0);
    parts_.data.insert(parts_.data.end(), bytes.begin(), bytes.end());
    return blob;
  }

  /// Appends a blob of its own for the field at the end of the file, which repeats the bytes of the old one.
  void give_bytes(Value* tensor, const char* name, size_t wanted) {
    const Value* held = child_named(*tensor, name);
    const fb::Blob blob = repeat_at_end(held == nullptr ? std::pair<size_t, size_t>(0, 0) : place_of(*held), wanted);
    set_bytes(tensor, name, &blob, sizeof(blob));
  }

  /// Gives a tensor another type, layout, role or shape, with all the data and scales that it may need.
  void remake_tensor() {
    const std::vector<Value*> all = tensors();
    if (all.empty()) return;
    Value* tensor = all[below(all.size())];
    for (uint64_t i = 1 + below(2); i > 0; --i) {
      const uint64_t how = below(std::size(kKinds) + 1);
      how == std::size(kKinds) ? change_rows(tensor)
                               : set_number(tensor, kKinds[how].first, below(kKinds[how].second + 1));
    }
    give_all_bytes(tensor);
  }

  /// Changes the rows: a symbol, or a number of them; or adds or removes a dimension.
  void change_rows(Value* tensor) {
    Value* shape = child_named(*tensor, "shape");
    if (shape == nullptr || shape->bytes.size() < sizeof(fb::Dim)) return;
    const auto symbol = static_cast<int32_t>(below(4)) - 1;
    const fb::Dim dim(symbol, symbol < 0 ? 0 : 1, symbol < 0 ? static_cast<int32_t>(1 + below(70)) : 0, 1);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&dim);
    if (chance(4)) {
      shape->bytes.insert(shape->bytes.end(), bytes, bytes + sizeof(dim));
    } else if (chance(4)) {
      shape->bytes.resize(shape->bytes.size() - sizeof(dim));
    } else {
      const size_t at = chance(3) ? below(shape->bytes.size() / sizeof(dim)) * sizeof(dim) : 0;
      std::memcpy(shape->bytes.data() + at, &dim, sizeof(dim));
    }
  }

  /// Replaces an operand of an operator by another tensor, or by none.
  void change_operand() {
    const auto count = static_cast<uint64_t>(tensors().size());
    const auto other = [&] { return static_cast<uint64_t>(below(count + 1)) - (chance(8) ? count + 1 : 0); };
    for (int tries = 0; tries < 20; ++tries) {
      const Node table = choose(tables_below(parts_.tree.root));
      if (table == nullptr || count == 0) return;
      std::vector<const reflection::Field*> operands;
      for (const reflection::Field* field : *table_of(table->form)->fields()) {
        const bool one = field->type()->base_type() == reflection::Int && field->default_integer() == -1;
        const bool several =
            field->type()->base_type() == reflection::Vector && field->type()->element() == reflection::Int;
        if (one || several) operands.push_back(field);
      }
      if (operands.empty()) continue;
      const reflection::Field* field = operands[below(operands.size())];
      if (field->type()->base_type() == reflection::Int) {
        set_number(table.get(), field->name()->c_str(), other());
      } else if (Value* list = child_named(*table, field->name()->c_str())) {
        const size_t items = list->bytes.size() / sizeof(int32_t), at = below(items + 1);
        const auto index = static_cast<int32_t>(other());
        if (at == items) list->bytes.resize((items + 1) * sizeof(int32_t));
        std::memcpy(list->bytes.data() + at * sizeof(int32_t), &index, sizeof(index));
      }
      return;
    }
  }

  /// Returns the bytes of a row in the arena, as the verifier counts them.
  static uint64_t row_of(const Value& tensor, const std::vector<fb::Dim>& shape) {
    const auto heads = static_cast<uint32_t>(std::clamp<uint64_t>(number_named(tensor, "heads"), 1, 1 << 16));
    const uint32_t width = static_cast<uint32_t>(shape[1].b()) & 0x3FFFFF;
    return row_bytes({static_cast<fb::DType>(number_named(tensor, "type")),
                      static_cast<fb::Layout>(number_named(tensor, "layout")), width, heads,
                      number_named(tensor, "scale_kind") == static_cast<uint64_t>(fb::ScaleKind::fixed)});
  }

  static void put_numbers(Value* table, const char* name, const uint64_t (&numbers)[4]) {
    uint32_t words[4];
    for (int i = 0; i < 4; ++i) words[i] = static_cast<uint32_t>(numbers[i]);
    set_bytes(table, name, words, sizeof(words));
  }

  /// Gives every tensor of the arena its own place.
  void plan() {
    uint64_t ends[2][4] = {};
    const uint64_t multiple = chance(2) ? 4 : 64;
    for (Value* tensor : tensors()) {
      const std::vector<fb::Dim> shape = shape_of(*tensor);
      const auto role = static_cast<fb::Role>(number_named(*tensor, "role"));
      if (role == fb::Role::constant || role == fb::Role::state || shape.size() != 2) continue;
      if (shape[0].symbol() < 0 || shape[0].symbol() > 2) continue;
      uint64_t(&at)[4] = ends[number_named(*tensor, "region") & 1];
      put_numbers(tensor, "offset", at);
      at[1 + shape[0].symbol()] += round_up(row_of(*tensor, shape), multiple);
    }
    Value* model = parts_.tree.root.get();
    for (const char* name : {"shared_bytes", "source_shared_bytes"}) put_numbers(model, name, ends[0]);
    for (const char* name : {"tile_bytes", "source_tile_bytes"}) put_numbers(model, name, ends[1]);
    for (const Node& table : tables_below(parts_.tree.root)) {
      const reflection::Field* scratch = field_named(*table, "scratch");
      if (scratch != nullptr) table->fields.erase(scratch->id());
    }
  }

  Parts& parts_;
  const Parts& other_;
  std::mt19937_64 random_;
};

}  // namespace

const uint8_t* graph_of(const std::vector<uint8_t>& file, FileHeader* header) {
  if (read_header(file.data(), file.size(), header, nullptr) != Status::kOk) return nullptr;
  const uint8_t* graph = file.data() + header->graph_offset;
  flatbuffers::Verifier verifier(graph, static_cast<size_t>(header->graph_size), 64, 1U << 16);
  return fb::VerifyModelBuffer(verifier) ? graph : nullptr;
}

void change_number(uint8_t* bytes, reflection::BaseType base, int32_t index, std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return random() % n; };
  const size_t size = flatbuffers::GetTypeSize(base);
  uint64_t number = 0;
  std::memcpy(&number, bytes, size);
  if (base == reflection::Float || base == reflection::Double) {
    double value = base == reflection::Double ? flatbuffers::ReadScalar<double>(bytes)
                                              : static_cast<double>(flatbuffers::ReadScalar<float>(bytes));
    const uint64_t how = below(4);
    value = how == 0 ? kOddFloats[below(std::size(kOddFloats))] : how == 1 ? -value : how == 2 ? value * 2 : value + 1;
    if (base == reflection::Double) flatbuffers::WriteScalar(bytes, value);
    if (base == reflection::Float) flatbuffers::WriteScalar(bytes, static_cast<float>(value));
    return;
  }
  if (index >= 0 && below(6) != 0) {  // an enumeration: one of its values, or one of the next two numbers
    number = below(schema().enums()->Get(static_cast<flatbuffers::uoffset_t>(index))->values()->size() + 2);
  } else if (base == reflection::Bool) {
    number ^= 1;
  } else {
    const uint64_t changes[] = {odd_number(random), number + 1, number - 1,  number * 2,
                                number / 2,         below(20),  number + 16, below(5) - 1};
    number = changes[below(std::size(changes))];
  }
  std::memcpy(bytes, &number, size);
}

std::optional<std::vector<uint8_t>> mutate_model(const std::vector<uint8_t>& file, const std::vector<uint8_t>& other,
                                                 uint64_t seed, size_t most) {
  std::optional<Parts> parts = parts_of(file);
  const std::optional<Parts> more = parts_of(other);
  if (!parts || !more) return std::nullopt;
  Mutator(&*parts, *more, seed).run();
  return file_of(*parts, most);
}

void change_operands(const std::vector<uint8_t>& file, size_t most,
                     const std::function<void(const std::vector<uint8_t>&, uint64_t)>& use) {
  std::optional<Parts> parts = parts_of(file);
  if (!parts) return;
  uint64_t number = 0;
  Mutator(&*parts, *parts, 0).change_operands([&] {
    const auto made = file_of(*parts, most);
    if (made) use(*made, number++);
  });
}

}  // namespace bantam::fuzz
