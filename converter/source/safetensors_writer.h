// Writes a safetensors file: the format that Safetensors (safetensors.h) reads.
#ifndef BANTAM_CONVERTER_SOURCE_SAFETENSORS_WRITER_H_
#define BANTAM_CONVERTER_SOURCE_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// One tensor in its final bytes: little-endian elements of `dtype`, row-major.
struct TensorBytes {
  std::string dtype;  // "F32", "F16", ...
  std::vector<uint64_t> shape;
  std::string bytes;
};

/// `values` as F32, or as F16 (round to nearest even; beyond its range: infinity).
TensorBytes tensor_bytes(std::vector<uint64_t> shape, const std::vector<float>& values, std::string_view dtype = "F32");

/// The whole file. `metadata` goes to "__metadata__" beside {"format": "pt"}, which transformers wants. Tensors lie in the
/// order of their names, widest element first, and the header's length is a multiple of 8, so that each is aligned.
std::string safetensors_file(const std::map<std::string, TensorBytes>& tensors,
                             const std::map<std::string, std::string>& metadata = {});

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SAFETENSORS_WRITER_H_
