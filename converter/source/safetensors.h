// safetensors: one file of named tensors (a u64 header length, a JSON header, the data).
// Format: https://huggingface.co/docs/safetensors/index#format
#ifndef BANTAM_CONVERTER_SOURCE_SAFETENSORS_H_
#define BANTAM_CONVERTER_SOURCE_SAFETENSORS_H_

#include <filesystem>
#include <map>
#include <string>

#include "source/weight_file.h"

namespace bantam::convert {

/// A file whose header has been read and checked: offsets in range, ordered, without holes or overlaps,
/// every size equal to product(shape) * element size.
class Safetensors : public WeightFile {
 public:
  /// Throws Error (kIo, kInvalid) naming the file, and the tensor where one is at fault. A hole, an
  /// overlap, a duplicate name, a header longer than 100 MB or beyond the file are all refused.
  explicit Safetensors(std::filesystem::path path);

  /// The names and texts of "__metadata__".
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  std::string read_bytes(const std::string& name) const override;
  std::string read_part(const std::string& name, uint64_t begin, size_t size) const override;
  bool reads_parts() const override { return true; }

 private:
  std::map<std::string, std::string> metadata_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SAFETENSORS_H_
