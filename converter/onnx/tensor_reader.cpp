#include "onnx/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "onnx/message.h"
#include "source/weight_file.h"

namespace bantam::convert::onnx {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMostDims = 16;
/// Maximum number of elements that need decoding.
constexpr uint64_t kMostDecoded = 1U << 26;
/// Tensors up to this size are copied: reading a few bytes of a mapped file may keep 2 MB of it resident
/// (Model::let_go).
constexpr size_t kCopiedBytes = size_t{64} << 10;

std::string_view view(protozero::data_view from) { return {from.data(), from.size()}; }

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

TensorReader::TensorReader(std::string file, fs::path directory, Model& model)
    : file_(std::move(file)), directory_(std::move(directory)), model_(model) {}

void TensorReader::fail(const std::string& why) const {
  throw Error(ExitCode::kInvalid, fmt::format("{}: {}", file_, why));
}

/// Numbers that a tensor stores in one of its typed fields instead of raw_data.
struct TensorReader::Loose {
  std::string bytes;
  std::string_view whole;  // packed floats are stored in the file in their final form
  uint64_t count = 0;
};

template <typename Values>
void TensorReader::decode(const Values& values, Type type, Loose* out) const {
  const uint64_t width = std::max(bytes_of(type), 1U);
  for (const auto value : values) {
    if (++out->count > kMostDecoded) fail("a tensor outside raw_data has too many elements; save it with raw_data");
    model_.budget->take(2 * width, "numbers of its tensors");  // twice the size: a list doubles as it grows
    store(static_cast<int64_t>(value), type, out->bytes);
  }
}

void TensorReader::store(int64_t value, Type type, std::string& bytes) {
  switch (is_half_byte(type) ? 1 : bytes_of(type)) {
    case 1:
      return append(bytes, static_cast<uint8_t>(value));
    case 2:
      return append(bytes, static_cast<uint16_t>(value));
    case 4:
      return append(bytes, static_cast<uint32_t>(value));
    default:
      return append(bytes, value);
  }
}

Tensor TensorReader::read(protozero::data_view bytes, bool named) {
  Tensor out;
  std::string location;
  uint64_t offset = 0, length = 0;
  bool has_raw = false, external = false, has_length = false;
  {  // The type may come after the data.
    Message first(bytes);
    while (first.next()) {
      if (first.tag() == 2) {
        out.type = static_cast<Type>(first.get_int32());
      } else {
        first.skip();
      }
    }
  }
  Loose loose;
  Message in(bytes);
  const auto packed = [&] { return in.wire_type() == protozero::pbf_wire_type::length_delimited; };
  while (in.next()) {
    switch (in.tag()) {
      case 1:
        if (packed()) {
          for (const int64_t extent : in.get_packed_int64()) out.dims.push_back(extent);
        } else {
          out.dims.push_back(in.get_int64());
        }
        if (out.dims.size() > kMostDims) fail(fmt::format("a tensor has more than {} extents", kMostDims));
        break;
      case 4:
      case 10: {
        const uint32_t width = in.tag() == 4 ? 4 : 8;
        if (packed()) {
          const std::string_view data = view(in.get_view());
          if (data.size() % width != 0) fail("packed floats of a tensor are cut off");
          if (loose.whole.empty() && loose.bytes.empty()) {
            loose.whole = data;
          } else {
            loose.bytes.append(loose.whole).append(data);
            loose.whole = {};
          }
        } else if (width == 4) {
          append(loose.bytes, in.get_float());
        } else {
          append(loose.bytes, in.get_double());
        }
        break;
      }
      case 5:
        if (packed()) {
          decode(in.get_packed_int32(), out.type, &loose);
        } else {
          store(in.get_int32(), out.type, loose.bytes);
        }
        break;
      case 7:
        if (packed()) {
          decode(in.get_packed_int64(), out.type, &loose);
        } else {
          store(in.get_int64(), out.type, loose.bytes);
        }
        break;
      case 11:
        if (packed()) {
          decode(in.get_packed_uint64(), out.type, &loose);
        } else {
          store(static_cast<int64_t>(in.get_uint64()), out.type, loose.bytes);
        }
        break;
      case 8:
        out.name = in.get_string();
        break;
      case 9:
        has_raw = true;
        out.bytes = view(in.get_view());
        break;
      case 13: {
        Message entry = in.get_message();
        std::string key, value;
        while (entry.next()) {
          if (entry.tag() == 1) {
            key = entry.get_string();
          } else if (entry.tag() == 2) {
            value = entry.get_string();
          } else {
            entry.skip();
          }
        }
        if (key == "location") location = value;
        if (key == "offset") offset = count(key, value);
        if (key == "length") length = count(key, value), has_length = true;
        break;
      }
      case 14:
        external = in.get_int32() == 1;
        break;
      default:
        in.skip();
    }
  }
  const std::string called = fmt::format("tensor \"{}\"", out.name);
  if (named && out.name.empty()) fail("a tensor has no name");
  for (const int64_t extent : out.dims) {
    if (extent < 0 || !multiply(out.elements, static_cast<uint64_t>(extent), &out.elements)) {
      fail(called + ": its shape overflows");
    }
  }
  const uint32_t width = bytes_of(out.type);
  const bool halves = is_half_byte(out.type);
  if (width == 0 && !halves) return out;  // an unsupported type: its readers report an error
  uint64_t size = out.elements / 2 + out.elements % 2;
  if (!halves && !multiply(out.elements, width, &size)) fail(called + ": its shape overflows");
  if (external) {
    out.bytes = outside(called, location, offset, has_length ? length : size);
    model_.budget->take(out.bytes.size(), "the tensors of its external data");  // external tensors may share bytes
  } else if (!has_raw) {
    if (loose.whole.empty()) {
      out.owned = std::make_shared<const std::string>(std::move(loose.bytes));
      out.bytes = *out.owned;
    } else {
      out.bytes = loose.whole;
    }
  }
  if (out.bytes.size() != size) {
    fail(fmt::format("{}: {} elements of {} do not make its {} bytes; the file is corrupt: copy it again", called,
                     out.elements, name_of(out.type), out.bytes.size()));
  }
  if (out.owned == nullptr) {
    const std::string_view mapped = out.bytes;
    if (mapped.size() <= kCopiedBytes) {
      out.owned = std::make_shared<const std::string>(mapped);
      out.bytes = *out.owned;
    }
    model_.let_go(mapped);
  }
  return out;
}

uint64_t TensorReader::count(const std::string& key, const std::string& text) const {
  uint64_t value = 0;
  if (text.empty() || text.size() > 18) fail(fmt::format("external data: {} \"{}\" is not a count", key, text));
  for (const char digit : text) {
    if (digit < '0' || digit > '9') fail(fmt::format("external data: {} \"{}\" is not a count", key, text));
    value = value * 10 + static_cast<uint64_t>(digit - '0');
  }
  return value;
}

/// Returns bytes of another file in the directory.
std::string_view TensorReader::outside(const std::string& called, const std::string& location, uint64_t offset,
                                       uint64_t length) {
  auto found = files_.find(location);
  if (found == files_.end()) {
    const fs::path relative(location);
    bool inside = !location.empty() && relative.is_relative() && !directory_.empty();
    for (const fs::path& part : relative) inside = inside && part != "..";
    // A link may also lead outside. A file that does not exist is checked by its name only.
    std::error_code error, missing;
    const fs::path root = fs::canonical(directory_, error);
    const fs::path real = fs::canonical(directory_ / relative, missing);
    const fs::path file = missing ? root / relative : real;
    const auto [end, rest] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
    inside = inside && !error && end == root.end();
    if (!inside) {
      fail(fmt::format("{}: its data lies in \"{}\", which is not inside the directory of the file; put it there",
                       called, location));
    }
    auto mapped = std::make_shared<host::MappedFile>();
    if (mapped->open(file.c_str()) != Status::kOk) {
      throw Error(ExitCode::kIo, fmt::format("{}: {}: its data is in {}, which cannot be read; copy it beside the file",
                                             file_, called, file.string()));
    }
    model_.data_files.push_back(file);
    model_.mappings.push_back(mapped);
    model_.budget->add_source(mapped->size());
    found =
        files_.emplace(location, std::string_view(reinterpret_cast<const char*>(mapped->data()), mapped->size())).first;
  }
  const std::string_view all = found->second;
  if (offset > all.size() || length > all.size() - offset) {
    fail(fmt::format("{}: its data ends beyond {} ({} bytes); copy that again", called, location, all.size()));
  }
  return all.substr(static_cast<size_t>(offset), static_cast<size_t>(length));
}

}  // namespace bantam::convert::onnx
