// A GGUF file of version 2 or 3 (ggml's format): key-value pairs, then the tensors' descriptions, then the tensors.
// Numbers are little-endian; a string is a 64-bit length followed by its bytes.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_FILE_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_FILE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"
#include "source/gguf/gguf_types.h"

namespace bantam::convert {

/// A tensor; its location has been checked against the size of the file.
struct GgufTensor {
  const GgufType* type = nullptr;
  std::vector<uint64_t> shape;  // the slowest dimension first, as in transformers; rows consist of whole blocks
  uint64_t elements = 0;
  uint64_t begin = 0, size = 0;  // in bytes, from the start of the file
  size_t part = 0;               // index of the part of a split file
};

class GgufFile {
 public:
  /// Reads everything but the tensors' bytes. Throws Error: kIo if the file cannot be read, kInvalid if it is damaged,
  /// kUnsupported for other versions and for types that ggml does not have. For a split file
  /// (NAME-00001-of-00003.gguf), `path` is the first part, and the others are beside it.
  explicit GgufFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  /// The file, or all of its parts in order.
  const std::vector<std::filesystem::path>& parts() const { return parts_; }
  /// Numbers, booleans, strings (all UTF-8) and lists of these.
  const std::map<std::string, Json>& values() const { return values_; }
  const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }

  /// The value of a key; null if it is absent.
  const Json& value(const std::string& key) const;
  /// The string of a key; `otherwise` if it is absent or not a string.
  std::string text(const std::string& key, const std::string& otherwise = "") const;
  /// The integer of a key, at least 0; `otherwise` if it is absent or another value.
  int64_t count(const std::string& key, int64_t otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;

  /// The bytes of a tensor.
  std::string read(const GgufTensor& tensor) const;

 private:
  /// Reads the values of a part; adds its tensors to `tensors_`.
  std::map<std::string, Json> read_part(const std::filesystem::path& path);

  std::filesystem::path path_;
  std::vector<std::filesystem::path> parts_;
  std::map<std::string, Json> values_;
  std::map<std::string, GgufTensor> tensors_;
};

/// Returns true if a file with these first bytes looks like a GGUF file.
bool begins_as_gguf(std::string_view bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_FILE_H_
