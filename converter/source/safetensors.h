// safetensors: one file of named tensors (a u64 header length, a JSON header, the data).
// Format: https://huggingface.co/docs/safetensors/index#format
#ifndef BANTAM_CONVERTER_SOURCE_SAFETENSORS_H_
#define BANTAM_CONVERTER_SOURCE_SAFETENSORS_H_

#include <filesystem>
#include <map>
#include <string>

#include "source/weight_file.h"

namespace bantam::convert {

/// A file whose header has been read and checked: offsets are in range and in order, without gaps or overlaps, and
/// every size equals product(shape) * element size.
class Safetensors : public WeightFile {
 public:
  /// Throws Error (kIo, kInvalid) that names the file, and the tensor if one is at fault. Refuses gaps, overlaps,
  /// duplicate names, and headers that are longer than 100 MB or exceed the file.
  explicit Safetensors(std::filesystem::path path);

  /// The names and values of "__metadata__".
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  std::string read_bytes(const std::string& name) const override;
  std::string read_part(const std::string& name, uint64_t begin, size_t size) const override;
  bool reads_parts() const override { return true; }

 private:
  std::map<std::string, std::string> metadata_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SAFETENSORS_H_
