#include "source/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/json_file.h"
#include "base/regular_file.h"
#include "base/size.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the format's reference implementation

struct ElementType {
  const char* name;
  uint32_t bits;
};
constexpr std::array<ElementType, 18> kElementTypes = {{{"F64", 64},
                                                        {"F32", 32},
                                                        {"F16", 16},
                                                        {"BF16", 16},
                                                        {"I64", 64},
                                                        {"I32", 32},
                                                        {"I16", 16},
                                                        {"I8", 8},
                                                        {"U64", 64},
                                                        {"U32", 32},
                                                        {"U16", 16},
                                                        {"U8", 8},
                                                        {"BOOL", 8},
                                                        {"C64", 64},
                                                        {"F8_E5M2", 8},
                                                        {"F8_E4M3", 8},
                                                        {"F8_E8M0", 8},
                                                        {"F4", 4}}};

class HeaderReader {
 public:
  HeaderReader(const fs::path& path, uint64_t data_begin, uint64_t data_size)
      : file_(path.string()), data_begin_(data_begin), data_size_(data_size) {}

  std::map<std::string, StoredTensor> read(const Json& header) {
    std::map<std::string, StoredTensor> tensors;
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      tensors.emplace(name, read_tensor(name, entry));
    }
    check_places(tensors);
    return tensors;
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& why) const {
    throw Error(ExitCode::kInvalid, fmt::format("{}: tensor \"{}\": {}", file_, name, why));
  }

  StoredTensor read_tensor(const std::string& name, const Json& entry) const {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets")) {
      fail(name, "its header entry lacks dtype, shape or data_offsets");
    }
    StoredTensor tensor;
    if (!entry["dtype"].is_string()) fail(name, "dtype is not a string");
    tensor.dtype = entry["dtype"].get<std::string>();
    if (!entry["shape"].is_array()) fail(name, "shape is not a list");
    tensor.elements = 1;
    for (const Json& extent : entry["shape"]) {
      if (!extent.is_number_unsigned()) fail(name, "shape holds something that is not a count");
      tensor.shape.push_back(extent.get<uint64_t>());
      if (!multiply(tensor.elements, tensor.shape.back(), &tensor.elements)) fail(name, "its shape overflows");
    }
    const Json& offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      fail(name, "data_offsets is not a pair of counts");
    }
    const auto begin = offsets[0].get<uint64_t>();
    const auto end = offsets[1].get<uint64_t>();
    if (begin > end) fail(name, fmt::format("data_offsets [{}, {}] end before they begin", begin, end));
    if (end > data_size_) {
      fail(name, fmt::format("data_offsets end at {}, but the file holds {} bytes of data; it is truncated or "
                             "corrupt: copy it again",
                             end, data_size_));
    }
    tensor.begin = data_begin_ + begin;
    tensor.size = end - begin;
    const auto type = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                   [&](const ElementType& known) { return tensor.dtype == known.name; });
    uint64_t bits = 0;
    if (type != kElementTypes.end() &&
        (!multiply(tensor.elements, type->bits, &bits) || bits % 8 != 0 || bits / 8 != tensor.size)) {
      fail(name, fmt::format("{} elements of {} do not make its {} bytes", tensor.elements, tensor.dtype, tensor.size));
    }
    return tensor;
  }

  /// Checks that tensors follow each other without gaps and fill the data exactly.
  void check_places(const std::map<std::string, StoredTensor>& tensors) const {
    std::vector<const std::pair<const std::string, StoredTensor>*> order;
    order.reserve(tensors.size());
    for (const auto& tensor : tensors) order.push_back(&tensor);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return std::pair(a->second.begin, a->second.size) < std::pair(b->second.begin, b->second.size);
    });
    uint64_t expected = data_begin_;
    for (const auto* tensor : order) {
      if (tensor->second.begin < expected) fail(tensor->first, "its data overlaps another tensor's");
      if (tensor->second.begin > expected) fail(tensor->first, "unused bytes lie before its data");
      expected += tensor->second.size;
    }
    if (expected != data_begin_ + data_size_) {
      throw Error(ExitCode::kInvalid, fmt::format("{}: {} bytes after the last tensor belong to none", file_,
                                                  data_begin_ + data_size_ - expected));
    }
  }

  std::string file_;
  uint64_t data_begin_;
  uint64_t data_size_;
};

}  // namespace

Safetensors::Safetensors(fs::path path) : WeightFile(std::move(path)) {
  const std::string file = path_.string();
  const uint64_t size = size_of_file(path_);
  RegularFile bytes(path_);
  if (size < 8) throw Error(ExitCode::kInvalid, fmt::format("{}: {} bytes is too short for safetensors", file, size));

  std::array<uint8_t, 8> prefix{};
  bytes.read_all(0, prefix.data(), prefix.size());
  uint64_t header_size = 0;
  for (size_t i = 8; i-- > 0;) header_size = header_size << 8 | prefix[i];
  if (header_size > kMaxHeaderBytes) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: its header claims {} bytes (at most {} are legal); this is not a "
                                                "safetensors file",
                                                file, header_size, kMaxHeaderBytes));
  }
  if (header_size > size - 8) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: truncated: its header of {} bytes is longer than the file ({} "
                                                "bytes); copy it again",
                                                file, header_size, size));
  }
  std::string text(in_memory(header_size), '\0');
  bytes.read_all(8, text.data(), text.size());
  const Json header = parse_json(text, file + ": header");
  if (!header.is_object()) throw Error(ExitCode::kInvalid, fmt::format("{}: its header is not a JSON object", file));
  tensors_ = HeaderReader(path_, 8 + header_size, size - 8 - header_size).read(header);
  const auto metadata = header.find("__metadata__");
  if (metadata == header.end() || !metadata->is_object()) return;
  for (const auto& [key, value] : metadata->items()) {
    if (value.is_string()) metadata_[key] = value.get<std::string>();
  }
}

std::string Safetensors::read_bytes(const std::string& name) const {
  return read_part(name, 0, in_memory(tensors_.at(name).size));
}

std::string Safetensors::read_part(const std::string& name, uint64_t begin, size_t size) const {
  RegularFile file(path_);
  std::string bytes(size, '\0');
  file.read_all(tensors_.at(name).begin + begin, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace bantam::convert
