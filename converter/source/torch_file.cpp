#include "source/torch_file.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/memory_budget.h"
#include "base/size.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMaxPickleBytes = uint64_t{4} << 20;  // enough for about ten thousand tensors
constexpr const char* kPickle = "data.pkl";

/// Only archives are supported: files of torch before 1.6 begin with a pickle.
fs::path checked(const fs::path& path) {
  size_of_file(path);
  std::ifstream stream(path, std::ios::binary);
  if (stream.get() == 0x80) {
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: is in the format of torch before 1.6; {}", path.string(), save_again(path)));
  }
  return path;
}

/// The position after the last element, in elements of the storage; returns false on overflow.
bool end_of(const PickledTensor& tensor, uint64_t* end) {
  uint64_t last = tensor.offset;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    uint64_t reach = 0;
    if (tensor.shape[i] == 0) return *end = tensor.offset, true;
    if (!multiply(tensor.shape[i] - 1, tensor.strides[i], &reach)) return false;
    if (last > std::numeric_limits<uint64_t>::max() - reach - 1) return false;
    last += reach;
  }
  *end = last + 1;
  return true;
}

bool contiguous(const PickledTensor& tensor) {
  uint64_t stride = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];  // cannot overflow: the elements have been counted
  }
  return true;
}

}  // namespace

TorchFile::TorchFile(fs::path path) : WeightFile(std::move(path)), zip_(checked(path_)) {
  const std::string file = path_.string();
  for (const auto& [name, entry] : zip_.entries()) {
    const size_t slash = name.rfind('/');
    if (slash != std::string::npos && name.compare(slash + 1, std::string::npos, kPickle) == 0) {
      folder_ = name.substr(0, slash + 1);
      if (entry.size > kMaxPickleBytes) {
        throw Error(ExitCode::kInvalid, fmt::format("{}: its pickle of {} bytes is too long", file, entry.size));
      }
    }
  }
  if (folder_.empty()) {
    throw Error(ExitCode::kInvalid, fmt::format("{}: holds no {}: it is not a checkpoint of torch", file, kPickle));
  }
  const std::string order = folder_ + "byteorder";
  if (zip_.entries().count(order) != 0 && zip_.read(order) != "little") {
    throw Error(ExitCode::kUnsupported,
                fmt::format("{}: was written on a big-endian machine; {}", file, save_again(file)));
  }
  const std::string pickle = zip_.read(folder_ + kPickle);
  const uint64_t size = size_of_file(path_);
  MemoryBudget budget(file, size);
  for (auto& [name, tensor] : read_state_dict(pickle, file, size)) {
    add(name, std::move(tensor));
    budget.take(tensors_.at(name).size, "the tensors that share its storages");
  }
}

void TorchFile::add(const std::string& name, PickledTensor tensor) {
  const auto invalid = [&](const std::string& why) {
    throw Error(ExitCode::kInvalid,
                fmt::format("{}: tensor \"{}\": {}; download or copy it again", path_.string(), name, why));
  };
  StoredTensor stored;
  stored.dtype = tensor.dtype;
  stored.shape = tensor.shape;
  stored.elements = 1;
  for (const uint64_t extent : tensor.shape) {
    if (!multiply(stored.elements, extent, &stored.elements)) invalid("its shape overflows");
  }
  const uint32_t bytes = element_bytes(tensor.dtype);
  const auto entry = zip_.entries().find(folder_ + "data/" + tensor.storage);
  if (entry == zip_.entries().end()) invalid(fmt::format("its storage {} is missing", tensor.storage));
  uint64_t end = 0;
  if (tensor.storage_elements > entry->second.size / bytes || !end_of(tensor, &end) || end > tensor.storage_elements) {
    invalid("it reaches beyond its storage");
  }
  // Expanded tensors, many elements of which share one stored element, have more elements than the storage.
  if (stored.elements > tensor.storage_elements) invalid("its elements overlap");
  stored.size = stored.elements * bytes;
  tensors_.emplace(name, std::move(stored));
  views_.emplace(name, std::move(tensor));
}

std::string TorchFile::read_bytes(const std::string& name) const {
  const StoredTensor& stored = tensors_.at(name);
  const PickledTensor& view = views_.at(name);
  const size_t width = element_bytes(view.dtype);
  uint64_t end = 0;
  end_of(view, &end);
  const std::string entry = folder_ + "data/" + view.storage;
  // Read the whole storage once, to verify its checksum.
  if (checked_.count(entry) == 0) {
    zip_.read(entry);
    checked_.insert(entry);
  }
  std::string reached = zip_.read_part(entry, view.offset * width, (end - view.offset) * width);
  if (contiguous(view)) return reached;
  std::string bytes(in_memory(stored.size), '\0');
  std::vector<uint64_t> index(view.shape.size(), 0);
  for (size_t at = 0; at < bytes.size(); at += width) {
    uint64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] * view.strides[i];
    bytes.replace(at, width, reached, static_cast<size_t>(place) * width, width);
    for (size_t i = index.size(); i-- > 0 && ++index[i] == view.shape[i];) index[i] = 0;
  }
  return bytes;
}

}  // namespace bantam::convert
