#include "source/weight_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/float_bits.h"
#include "base/regular_file.h"
#include "base/size.h"

namespace bantam::convert {
namespace fs = std::filesystem;

std::string save_again(const fs::path& file) {
  return fmt::format(
      "save it again in its folder: python -c \"import torch; torch.save(torch.load('{0}', "
      "map_location='cpu', weights_only=True), '{0}')\"",
      file.filename().string());
}

bool multiply(uint64_t a, uint64_t b, uint64_t* out) {
  if (b != 0 && a > std::numeric_limits<uint64_t>::max() / b) return false;
  *out = a * b;
  return true;
}

uint64_t size_of_file(const fs::path& path) {
  const uint64_t size = RegularFile(path).size();
  if (size == 0) throw Error(ExitCode::kInvalid, fmt::format("{}: is empty; copy it again", path.string()));
  return size;
}

WeightFile::WeightFile(fs::path path) : path_(std::move(path)) {}

std::vector<float> read_floats(const WeightFile& file, const std::string& name) {
  const StoredTensor& tensor = file.tensors().at(name);
  if (tensor.dtype != "F64") return file.read(name);
  const std::string bytes = file.read_bytes(name);
  std::vector<float> values;
  for (size_t i = 0; i < bytes.size() / sizeof(double); ++i) {
    double value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values.push_back(static_cast<float>(value));
    if (!std::isfinite(values.back())) {
      throw Error(ExitCode::kInvalid, fmt::format("{}: tensor \"{}\": element {} is {}, which is not a finite f32",
                                                  file.path().string(), name, i, value));
    }
  }
  return values;
}

std::string WeightFile::read_part(const std::string& name, uint64_t begin, size_t size) const {
  return read_bytes(name).substr(begin, size);
}

std::vector<float> WeightFile::read(const std::string& name) const {
  const StoredTensor& tensor = tensors_.at(name);
  bytes_of_value(name);
  const std::string bytes = read_bytes(name);
  std::vector<float> values(in_memory(tensor.elements, sizeof(float)));
  decode(name, bytes, 0, values.size(), values.data());
  return values;
}

void WeightFile::read_values(const std::string& name, uint64_t first, size_t count, float* out) const {
  const size_t width = bytes_of_value(name);
  decode(name, read_part(name, first * width, count * width), first, count, out);
}

size_t WeightFile::bytes_of_value(const std::string& name) const {
  const std::string& type = tensors_.at(name).dtype;
  if (type == "F32") return sizeof(float);
  if (type == "F16" || type == "BF16") return sizeof(uint16_t);
  throw Error(ExitCode::kUnsupported,
              fmt::format("{}: tensor \"{}\": type {} is not supported; save the model in F32, F16 or BF16",
                          path_.string(), name, type));
}

void WeightFile::decode(const std::string& name, const std::string& bytes, uint64_t first, size_t count,
                        float* out) const {
  const std::string& type = tensors_.at(name).dtype;
  if (count == 0) return;
  if (type == "F32") {
    std::memcpy(out, bytes.data(), count * sizeof(float));
  } else {
    const bool half = type == "F16";
    for (size_t i = 0; i < count; ++i) {
      uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
      out[i] = half ? float_from_f16(bits) : float_from_bf16(bits);
    }
  }
  const float* bad = std::find_if(out, out + count, [](float value) { return !std::isfinite(value); });
  if (bad == out + count) return;
  throw Error(
      ExitCode::kInvalid,
      fmt::format("{}: tensor \"{}\": element {} is {}; the training diverged or the file is damaged", path_.string(),
                  name, first + static_cast<uint64_t>(bad - out), std::isnan(*bad) ? "NaN" : "infinite"));
}

}  // namespace bantam::convert
