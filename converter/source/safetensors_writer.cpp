#include "source/safetensors_writer.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/half.h"

namespace bantam::convert {
namespace {

/// Bytes per element; 0 for an empty tensor.
uint64_t element_bytes(const TensorBytes& tensor) {
  uint64_t elements = 1;
  for (const uint64_t extent : tensor.shape) elements *= extent;
  return elements == 0 ? 0 : tensor.bytes.size() / elements;
}

}  // namespace

TensorBytes tensor_bytes(std::vector<uint64_t> shape, const std::vector<float>& values, std::string_view dtype) {
  TensorBytes out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  if (dtype == "F16") {
    std::vector<uint16_t> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(), half_from_float);
    out.bytes.resize(halves.size() * sizeof(uint16_t));
    if (!halves.empty()) std::memcpy(out.bytes.data(), halves.data(), out.bytes.size());
  } else {
    out.bytes.resize(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  }
  return out;
}

std::string safetensors_file(const std::map<std::string, TensorBytes>& tensors,
                             const std::map<std::string, std::string>& metadata) {
  std::vector<const std::pair<const std::string, TensorBytes>*> order;
  order.reserve(tensors.size());
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return element_bytes(a->second) > element_bytes(b->second); });
  nlohmann::ordered_json header;
  header["__metadata__"]["format"] = "pt";
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  uint64_t offset = 0;
  for (const auto* tensor : order) {
    const uint64_t end = offset + tensor->second.bytes.size();
    header[tensor->first] = {
        {"dtype", tensor->second.dtype}, {"shape", tensor->second.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string file;
  file.reserve(8 + text.size() + static_cast<size_t>(offset));
  for (uint32_t i = 0; i < 8; ++i) file += static_cast<char>(uint64_t{text.size()} >> (8 * i) & 0xFF);
  file += text;
  for (const auto* tensor : order) file += tensor->second.bytes;
  return file;
}

}  // namespace bantam::convert
