#include "source/marian/marian_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/float_bits.h"
#include "source/weight_file.h"
#include "source/weights.h"

namespace bantam::convert {
namespace {

constexpr uint64_t kMarianVersion = 1, kMostMarianItems = 1U << 16, kMostItemName = 1U << 12, kMostItemExtents = 8;
constexpr const char* kMarianSettings = "special:model.yml";

/// Marian's type numbers: the size of an element in bytes, and bits for its kind.
enum MarianType : uint64_t {
  kI8 = 0x101,
  kF16 = 0x402,
  kF32 = 0x404,
  kF64 = 0x408,
  kFbgemm = 0x800,     // a flag
  kIntgemm = 0x4000,   // a flag; combined with others if the order is specific to a kind of processor
  kIntgemm8 = 0x4101,  // followed by a factor
  kIntgemm16 = 0x4102
};

std::string name_of_type(uint64_t type) {
  switch (type) {
    case kF64:
      return "f64";
    case kI8:
      return "i8 without a factor";
    default:
      return fmt::format("number {:#x}", type);
  }
}

/// Reads numbers and strings in order from a file.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  bool has(uint64_t count) const { return count <= bytes_.size() - at_; }
  size_t at() const { return at_; }
  std::string_view take(uint64_t count) {
    const std::string_view out = bytes_.substr(at_, static_cast<size_t>(count));
    at_ += out.size();
    return out;
  }
  template <typename T>
  T number() {
    T value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

struct ItemHead {
  uint64_t name, type, extents, size;
};

}  // namespace

bool MarianFile::begins(std::string_view bytes) {
  if (bytes.size() < 2 * sizeof(uint64_t)) return false;
  Cursor cursor(bytes);
  const auto version = cursor.number<uint64_t>(), items = cursor.number<uint64_t>();
  return version >= 1 && version < 16 && items >= 1 && items <= kMostMarianItems;
}

void MarianFile::damaged(const std::string& what) const {
  throw Error(ExitCode::kInvalid, fmt::format("{}: {}; download or copy it again", where_, what));
}

MarianFile::MarianFile(std::string bytes, std::string where) : bytes_(std::move(bytes)), where_(std::move(where)) {
  if (!begins(bytes_)) damaged("does not begin as a model of Marian does");
  Cursor cursor(bytes_);
  const auto version = cursor.number<uint64_t>(), count = cursor.number<uint64_t>();
  if (version != kMarianVersion) {
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: is of version {} of Marian's format, and version {} is supported; write it again with "
                            "marian-conv of Marian 1.9 or later",
                            where_, version, kMarianVersion));
  }
  if (!cursor.has(count * sizeof(ItemHead))) damaged(fmt::format("ends within the list of its {} items", count));
  std::vector<ItemHead> heads(static_cast<size_t>(count));
  for (ItemHead& head : heads) {
    for (uint64_t* field : {&head.name, &head.type, &head.extents, &head.size}) *field = cursor.number<uint64_t>();
  }
  std::vector<std::string> names;
  std::vector<Item> items(heads.size());
  for (size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].name == 0 || heads[i].name > kMostItemName || !cursor.has(heads[i].name)) {
      damaged(fmt::format("item {}: its name of {} bytes is none, too long or beyond the file", i, heads[i].name));
    }
    std::string_view name = cursor.take(heads[i].name);
    names.emplace_back(name.substr(0, name.find('\0')));
  }
  for (size_t i = 0; i < heads.size(); ++i) {
    Item& item = items[i];
    if (heads[i].extents > kMostItemExtents || !cursor.has(heads[i].extents * sizeof(int32_t))) {
      damaged(fmt::format("item \"{}\": its {} extents are too many or beyond the file", names[i], heads[i].extents));
    }
    item.type = heads[i].type;
    item.elements = 1;
    for (uint64_t k = 0; k < heads[i].extents; ++k) {
      const auto extent = cursor.number<int32_t>();
      if (extent <= 0 || !multiply(item.elements, static_cast<uint64_t>(extent), &item.elements)) {
        damaged(fmt::format("item \"{}\": extent {} of its shape is {}, or the shape overflows", names[i], k, extent));
      }
      item.shape.push_back(static_cast<uint64_t>(extent));
    }
  }
  if (!cursor.has(sizeof(uint64_t))) damaged("ends in front of its items");
  const auto gap = cursor.number<uint64_t>();
  if (!cursor.has(gap)) damaged(fmt::format("ends within the gap of {} bytes in front of its items", gap));
  cursor.take(gap);
  for (size_t i = 0; i < heads.size(); ++i) {
    if (!cursor.has(heads[i].size)) {
      damaged(fmt::format("item \"{}\": its {} bytes reach beyond the file", names[i], heads[i].size));
    }
    items[i].begin = cursor.at();
    items[i].size = cursor.take(heads[i].size).size();
    if (!items_.emplace(names[i], std::move(items[i])).second) {
      damaged(fmt::format("item \"{}\": is there twice", names[i]));
    }
  }
}

std::string MarianFile::settings() const {
  const auto found = items_.find(kMarianSettings);
  if (found == items_.end()) return "";
  const std::string text = bytes_.substr(found->second.begin, found->second.size);
  return text.substr(0, text.find('\0'));
}

const MarianFile::Item& MarianFile::item(const std::string& name) const {
  const auto found = items_.find(name);
  if (found == items_.end()) damaged(fmt::format("item \"{}\" is missing", name));
  return found->second;
}

std::vector<float> MarianFile::values(const std::string& name, const Item& item) const {
  const bool single = item.type == kF32, half = item.type == kF16, byte = item.type == kIntgemm8,
             word = item.type == kIntgemm16;
  if (!single && !half && !byte && !word) {
    const bool arranged = (item.type & (kIntgemm | kFbgemm)) != 0;
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: item \"{}\": type {} is not supported; {}", where_, name, name_of_type(item.type),
                            arranged ? "it is arranged for one kind of processor: name the file for all of them, as "
                                       "\"marian-conv --gemm-type intgemm8\" writes it"
                                     : "f32, f16 and intgemm8 are, as marian-conv writes them"));
  }
  const size_t width = single ? sizeof(float) : byte ? 1 : 2;
  uint64_t size = 0;
  // The factor by which integers have been multiplied follows them.
  if (!multiply(item.elements, width, &size) || size > item.size ||
      (!single && !half && item.size - size < sizeof(float))) {
    damaged(fmt::format("item \"{}\": its {} bytes are too few for its shape and type", name, item.size));
  }
  std::vector<float> out(static_cast<size_t>(item.elements));
  const char* from = bytes_.data() + item.begin;
  float factor = 1;
  if (!single && !half) std::memcpy(&factor, from + size, sizeof factor);
  if (!std::isfinite(factor) || factor <= 0) {
    damaged(fmt::format("item \"{}\": its factor is {}, not a positive number", name, factor));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const char* at = from + i * width;
    if (single) {
      std::memcpy(&out[i], at, sizeof(float));
    } else if (byte) {
      out[i] = static_cast<float>(static_cast<int8_t>(*at)) / factor;
    } else {
      uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof bits);
      out[i] = half ? float_from_f16(bits) : static_cast<float>(static_cast<int16_t>(bits)) / factor;
    }
    if (!std::isfinite(out[i])) {
      damaged(fmt::format("item \"{}\": element {} is {}", name, i, std::isnan(out[i]) ? "NaN" : "infinite"));
    }
  }
  return out;
}

MemoryTensor MarianFile::table(const std::string& name) const {
  const Item& stored = item(name);
  return {stored.shape, values(name, stored)};
}

MemoryTensor MarianFile::weight(const std::string& name) const {
  const Item& stored = item(name);
  if (stored.shape.size() != 2) damaged(fmt::format("item \"{}\": is not a matrix", name));
  std::vector<float> all = values(name, stored);
  const bool turned_already = stored.type == kIntgemm8 || stored.type == kIntgemm16;
  if (!turned_already) all = turned(all, static_cast<size_t>(stored.shape[0]));
  return {{stored.shape[1], stored.shape[0]}, std::move(all)};
}

}  // namespace bantam::convert
