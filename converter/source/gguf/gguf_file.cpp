#include "source/gguf/gguf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "base/memory_budget.h"
#include "base/printable.h"
#include "base/regular_file.h"
#include "base/size.h"
#include "base/text_encoding.h"
#include "source/weight_file.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kGgufMagic = "GGUF";
constexpr uint32_t kOldestGguf = 2, kNewestGguf = 3;
constexpr uint64_t kMostGgufValues = 1U << 16, kMostTensors = 1U << 16, kMostName = 1U << 10, kMostExtents = 4;
constexpr uint64_t kMostText = 64U << 20, kMostListed = 1U << 24;
constexpr uint32_t kUsualAlignment = 32, kMostAlignment = 1U << 16;
constexpr const char* kCopyAgain = "download or copy it again";

/// Numbers of the value types.
enum GgufValue : uint32_t {
  kOfU8 = 0,
  kOfI8 = 1,
  kOfU16 = 2,
  kOfI16 = 3,
  kOfU32 = 4,
  kOfI32 = 5,
  kOfFloat = 6,
  kOfBool = 7,
  kOfText = 8,
  kOfList = 9,
  kOfU64 = 10,
  kOfI64 = 11,
  kOfDouble = 12
};

/// Reads numbers and strings in order from a file, never beyond its end.
class GgufCursor {
 public:
  GgufCursor(const fs::path& path, uint64_t size)
      : name_(path.string()), stream_(path, std::ios::binary), size_(size), budget_(name_, size) {
    if (!stream_) fail(ExitCode::kIo, "{}: cannot be opened", name_);
  }

  uint64_t at() const { return at_; }
  uint64_t left() const { return size_ - at_; }
  const std::string& name() const { return name_; }
  MemoryBudget& budget() { return budget_; }

  void take(void* out, uint64_t count, const std::string& what) {
    if (count > left()) damaged(fmt::format("ends within {}", what));
    stream_.read(static_cast<char*>(out), static_cast<std::streamsize>(count));
    if (static_cast<uint64_t>(stream_.gcount()) != count) fail(ExitCode::kIo, "{}: ended while it was read", name_);
    at_ += count;
  }
  template <typename T>
  T number(const std::string& what) {
    T value = 0;
    take(&value, sizeof value, what);
    return value;
  }
  std::string text(uint64_t most, const std::string& what) {
    const auto length = number<uint64_t>(what);
    if (length > left()) damaged(fmt::format("ends within {}, whose text is {} bytes long", what, length));
    if (length > most) damaged(fmt::format("{}: its text of {} bytes is longer than {}", what, length, most));
    budget_.take(sizeof(std::string) + length, "the texts of its values");
    std::string out(in_memory(length), '\0');
    take(out.data(), length, what);
    if (!is_utf8(out)) damaged(fmt::format("{}: is not UTF-8", what));
    return out;
  }

  [[noreturn]] void damaged(const std::string& what) const {
    fail(ExitCode::kInvalid, "{}: {}; {}", name_, what, kCopyAgain);
  }

 private:
  std::string name_;
  std::ifstream stream_;
  uint64_t size_, at_ = 0;
  MemoryBudget budget_;
};

/// Minimum size of a value of a type in bytes; 0: there is no such type.
uint64_t least_bytes(uint32_t type) {
  switch (type) {
    case kOfU8:
    case kOfI8:
    case kOfBool:
      return 1;
    case kOfU16:
    case kOfI16:
      return 2;
    case kOfU32:
    case kOfI32:
    case kOfFloat:
      return 4;
    case kOfText:
    case kOfU64:
    case kOfI64:
    case kOfDouble:
      return 8;
    default:
      return 0;
  }
}

/// Reads a number, boolean or string. `what` is its name in messages.
Json read_value(GgufCursor& in, uint32_t type, const std::string& what) {
  switch (type) {
    case kOfU8:
      return in.number<uint8_t>(what);
    case kOfI8:
      return in.number<int8_t>(what);
    case kOfU16:
      return in.number<uint16_t>(what);
    case kOfI16:
      return in.number<int16_t>(what);
    case kOfU32:
      return in.number<uint32_t>(what);
    case kOfI32:
      return in.number<int32_t>(what);
    case kOfFloat:
      return in.number<float>(what);
    case kOfBool:
      return in.number<uint8_t>(what) != 0;
    case kOfText:
      return in.text(kMostText, what);
    case kOfU64:
      return in.number<uint64_t>(what);
    case kOfI64:
      return in.number<int64_t>(what);
    case kOfDouble:
      return in.number<double>(what);
    default:
      in.damaged(fmt::format("{}: is of type {}, which the format does not have", what, type));
  }
}

Json read_list(GgufCursor& in, const std::string& what) {
  const auto type = in.number<uint32_t>(what);
  const auto count = in.number<uint64_t>(what);
  const uint64_t least = least_bytes(type);
  if (least == 0) in.damaged(fmt::format("{}: is a list of type {}, which lists do not hold", what, type));
  if (count > in.left() / least) in.damaged(fmt::format("ends within {}, a list of {} values", what, count));
  if (count > kMostListed) in.damaged(fmt::format("{}: its {} values are more than {}", what, count, kMostListed));
  in.budget().take(count, sizeof(Json), "the lists of its values");
  Json list = Json::array();
  list.get_ref<Json::array_t&>().reserve(in_memory(count, sizeof(Json)));
  for (uint64_t i = 0; i < count; ++i) list.push_back(read_value(in, type, what));
  return list;
}

std::pair<std::string, Json> read_entry(GgufCursor& in, uint64_t i) {
  constexpr uint64_t kEntry = 128;  // approximate size of a map entry
  in.budget().take(kEntry, "the values of its head");
  std::string key = in.text(kMostName, fmt::format("the key of value {}", i));
  const std::string what = fmt::format("value {}", printable(key));
  const auto type = in.number<uint32_t>(what);
  return {std::move(key), type == kOfList ? read_list(in, what) : read_value(in, type, what)};
}

/// Its offset is still relative to the first tensor.
std::pair<std::string, GgufTensor> read_tensor(GgufCursor& in, uint64_t i) {
  in.budget().take(2 * (sizeof(GgufTensor) + kMostExtents * sizeof(uint64_t)), "the tensors of its head");
  std::string name = in.text(kMostName, fmt::format("the name of tensor {}", i));
  const std::string what = fmt::format("tensor \"{}\"", printable(name));
  GgufTensor tensor;
  const auto extents = in.number<uint32_t>(what);
  if (extents == 0 || extents > kMostExtents) in.damaged(fmt::format("{}: has {} extents", what, extents));
  tensor.elements = 1;
  for (uint32_t k = 0; k < extents; ++k) {
    tensor.shape.push_back(in.number<uint64_t>(what));
    if (tensor.shape.back() == 0 || !multiply(tensor.elements, tensor.shape.back(), &tensor.elements)) {
      in.damaged(fmt::format("{}: an extent is 0, or its shape overflows", what));
    }
  }
  const auto number = in.number<uint32_t>(what);
  tensor.type = gguf_type(number);
  if (tensor.type == nullptr) {
    fail(ExitCode::kUnsupported,
         "{}: {}: its type has number {}, which this version does not know; write it as Q8_0, {}", in.name(), what,
         number, "Q4_0, BF16, F16 or F32: llama-quantize --allow-requantize IN OUT Q8_0");
  }
  if (tensor.shape.front() % tensor.type->elements != 0 ||
      !multiply(tensor.elements / tensor.type->elements, tensor.type->bytes, &tensor.size)) {
    in.damaged(fmt::format("{}: rows of {} are not whole blocks of {}, or its size overflows", what,
                           tensor.shape.front(), tensor.type->name));
  }
  std::reverse(tensor.shape.begin(), tensor.shape.end());
  tensor.begin = in.number<uint64_t>(what);
  return {std::move(name), std::move(tensor)};
}

/// Checks that each tensor lies within the file, begins at a multiple of the alignment, and does not overlap another.
void place(std::map<std::string, GgufTensor>* tensors, uint64_t begin, uint64_t alignment, const GgufCursor& in,
           uint64_t size) {
  std::vector<std::pair<const std::string, GgufTensor>*> order;
  order.reserve(tensors->size());
  for (auto& entry : *tensors) {
    GgufTensor& tensor = entry.second;
    const std::string what = fmt::format("tensor \"{}\"", printable(entry.first));
    if (tensor.begin % alignment != 0) {
      in.damaged(fmt::format("{}: begins at {}, which is not a multiple of {}", what, tensor.begin, alignment));
    }
    if (begin > size || tensor.begin > size - begin || tensor.size > size - begin - tensor.begin) {
      in.damaged(fmt::format("{}: its {} bytes reach beyond the file", what, tensor.size));
    }
    tensor.begin += begin;
    order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->second.begin < b->second.begin; });
  for (size_t i = 1; i < order.size(); ++i) {
    const GgufTensor& before = order[i - 1]->second;
    if (before.begin + before.size <= order[i]->second.begin) continue;
    in.damaged(fmt::format("tensor \"{}\": its bytes are those of \"{}\", too", printable(order[i]->first),
                           printable(order[i - 1]->first)));
  }
}

void check_version(const GgufCursor& in, uint32_t version) {
  if (version >= kOldestGguf && version <= kNewestGguf) return;
  if ((version & 0xFFFFU) == 0) {
    fail(ExitCode::kUnsupported,
         "{}: is for machines of the other order of bytes; write it again there, or turn it: "
         "gguf_convert_endian.py FILE little",
         in.name());
  }
  fail(ExitCode::kUnsupported,
       "{}: is of version {} of GGUF; versions {} and {} are supported: write it again with a "
       "newer convert_hf_to_gguf.py",
       in.name(), version, kOldestGguf, kNewestGguf);
}

}  // namespace

namespace {

/// The integer of a key, at least 0; `otherwise` if it is absent or another value.
int64_t count_of(const std::map<std::string, Json>& values, const std::string& key, int64_t otherwise) {
  const auto found = values.find(key);
  if (found == values.end()) return otherwise;
  const Json& value = found->second;
  if (value.is_number_unsigned()) return static_cast<int64_t>(std::min<uint64_t>(value.get<uint64_t>(), INT64_MAX));
  return value.is_number_integer() && value.get<int64_t>() >= 0 ? value.get<int64_t>() : otherwise;
}

}  // namespace

std::map<std::string, Json> GgufFile::read_part(const fs::path& path) {
  const uint64_t size = size_of_file(path);
  GgufCursor in(path, size);
  std::array<char, kGgufMagic.size()> magic{};
  in.take(magic.data(), magic.size(), "its first bytes");
  if (std::string_view(magic.data(), magic.size()) != kGgufMagic) in.damaged("does not begin with \"GGUF\"");
  check_version(in, in.number<uint32_t>("its version"));
  const auto count = in.number<uint64_t>("its counts"), entries = in.number<uint64_t>("its counts");
  if (count > kMostTensors || entries > kMostGgufValues) {
    in.damaged(
        fmt::format("says that it holds {} tensors and {} values; {} each are the most", count, entries, kMostTensors));
  }
  std::map<std::string, Json> values;
  std::map<std::string, GgufTensor> tensors;
  for (uint64_t i = 0; i < entries; ++i) {
    auto entry = read_entry(in, i);
    const std::string key = entry.first;
    if (!values.insert(std::move(entry)).second) in.damaged(fmt::format("value {}: is there twice", printable(key)));
  }
  for (uint64_t i = 0; i < count; ++i) {
    auto entry = read_tensor(in, i);
    const std::string name = entry.first;
    entry.second.part = parts_.size();
    if (tensors_.count(name) != 0 || !tensors.insert(std::move(entry)).second) {
      in.damaged(fmt::format("tensor \"{}\": is there twice", printable(name)));
    }
  }
  const int64_t alignment = count_of(values, "general.alignment", kUsualAlignment);
  if (alignment < 8 || alignment > kMostAlignment || (alignment & (alignment - 1)) != 0) {
    in.damaged("value general.alignment: is not a power of two from 8 to 65536");
  }
  const auto step = static_cast<uint64_t>(alignment);
  place(&tensors, (in.at() + step - 1) / step * step, step, in, size);
  tensors_.insert(tensors.begin(), tensors.end());
  parts_.push_back(path);
  return values;
}

GgufFile::GgufFile(fs::path path) : path_(std::move(path)) {
  values_ = read_part(path_);
  const int64_t parts = count("split.count", 1);
  if (parts <= 1) return;
  constexpr int64_t kMostParts = 999;
  const std::string name = path_.filename().string();
  const auto ending = [parts](int64_t part) { return fmt::format("-{:05}-of-{:05}.gguf", part, parts); };
  const std::string first = ending(1);
  const bool named = parts <= kMostParts && name.size() > first.size() &&
                     name.compare(name.size() - first.size(), first.size(), first) == 0;
  if (!named || count("split.no", 0) != 0) {
    fail(ExitCode::kUnsupported,
         "{}: is one of {} parts; name the first one, NAME{}, and let the others lie beside it under their names",
         path_.string(), parts, first);
  }
  for (int64_t part = 1; part < parts; ++part) {
    const fs::path other = path_.parent_path() / (name.substr(0, name.size() - first.size()) + ending(part + 1));
    std::error_code none;
    if (!fs::is_regular_file(other, none)) {
      fail(ExitCode::kIo, "{}: is not there, one of {} parts of {}; download it, too", other.string(), parts, name);
    }
    const std::map<std::string, Json> values = read_part(other);
    if (count_of(values, "split.no", -1) != part || count_of(values, "split.count", -1) != parts) {
      fail(ExitCode::kInvalid, "{}: is not part {} of {}; download it again", other.string(), part + 1, parts);
    }
  }
  const int64_t tensors = count("split.tensors.count", static_cast<int64_t>(tensors_.size()));
  if (tensors != static_cast<int64_t>(tensors_.size())) {
    fail(ExitCode::kInvalid, "{}: its parts hold {} tensors of {}; download them again", path_.string(),
         tensors_.size(), tensors);
  }
}

const Json& GgufFile::value(const std::string& key) const {
  static const Json kNull;
  const auto found = values_.find(key);
  return found == values_.end() ? kNull : found->second;
}

std::string GgufFile::text(const std::string& key, const std::string& otherwise) const {
  const Json& found = value(key);
  return found.is_string() ? found.get<std::string>() : otherwise;
}

int64_t GgufFile::count(const std::string& key, int64_t otherwise) const { return count_of(values_, key, otherwise); }

bool GgufFile::flag(const std::string& key, bool otherwise) const {
  const Json& found = value(key);
  return found.is_boolean() ? found.get<bool>() : otherwise;
}

std::string GgufFile::read(const GgufTensor& tensor) const {
  std::string bytes(in_memory(tensor.size), '\0');
  RegularFile(parts_.at(tensor.part)).read_all(tensor.begin, bytes.data(), bytes.size());
  return bytes;
}

bool begins_as_gguf(std::string_view bytes) { return bytes.substr(0, kGgufMagic.size()) == kGgufMagic; }

}  // namespace bantam::convert
