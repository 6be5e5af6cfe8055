// Writes a safetensors file: the format that Safetensors (safetensors.h) reads.
#ifndef BANTAM_CONVERTER_SOURCE_SAFETENSORS_WRITER_H_
#define BANTAM_CONVERTER_SOURCE_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// A tensor in its final form: little-endian elements of `dtype`, row-major.
struct TensorBytes {
  std::string dtype;  // "F32", "F16", ...
  std::vector<uint64_t> shape;
  std::string bytes;
};

/// Converts `values` to F32, or to F16 (round to nearest even; infinity beyond its range).
TensorBytes tensor_bytes(std::vector<uint64_t> shape, const std::vector<float>& values, std::string_view dtype = "F32");

/// Returns the whole file. `metadata` is stored in "__metadata__" with {"format": "pt"}, which transformers requires.
/// Tensors are sorted by element size, the largest first, then by name, and the header's length is a multiple of 8, so
/// that all tensors are aligned.
std::string safetensors_file(const std::map<std::string, TensorBytes>& tensors,
                             const std::map<std::string, std::string>& metadata = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SAFETENSORS_WRITER_H_
