// safetensors: one file of named tensors (a u64 header length, a JSON header, the data).
// Format: https://huggingface.co/docs/safetensors/index#format
#ifndef BANTAM_CONVERTER_IMPORT_SOURCE_SAFETENSORS_H_
#define BANTAM_CONVERTER_IMPORT_SOURCE_SAFETENSORS_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bantam::convert {

/// One tensor of a safetensors file, its place checked against the file's size.
struct StoredTensor {
  std::string dtype;  // as written: "F32", "F16", "BF16", "I64", ...
  std::vector<uint64_t> shape;
  uint64_t begin = 0;  // bytes from the start of the file
  uint64_t size = 0;   // bytes
  uint64_t elements = 0;
};

/// A file whose header has been read and checked: offsets in range, ordered, without holes or overlaps,
/// every size equal to product(shape) * element size. Reads lazily; the file stays where it is.
class Safetensors {
 public:
  /// Throws Error (kIo, kInvalid) naming the file, and the tensor where one is at fault. A hole, an
  /// overlap, a duplicate name, a header longer than 100 MB or beyond the file are all refused.
  explicit Safetensors(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  /// What "__metadata__" says: names and texts.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// The bytes of a tensor of any type, as they lie in the file. Throws Error (kIo).
  std::string read_bytes(const std::string& name) const;

  /// Values of an F32, F16 or BF16 tensor as f32 (all conversions exact). Throws Error: kUnsupported for
  /// other types, kInvalid when a value is NaN or infinite, kIo when the file cannot be read.
  std::vector<float> read(const std::string& name) const;

 private:
  std::filesystem::path path_;
  std::map<std::string, StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_SOURCE_SAFETENSORS_H_
