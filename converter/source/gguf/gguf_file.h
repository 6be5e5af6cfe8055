// A GGUF file of version 2 or 3 (the format of ggml): values by their keys, then the places of tensors, then the tensors. Numbers are
// little-endian; a text is its length of 64 bits and its bytes.
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

/// One tensor, its place checked against the size of the file.
struct GgufTensor {
  const GgufType* type = nullptr;
  std::vector<uint64_t> shape;  // the slowest first, as transformers has it; rows of whole blocks
  uint64_t elements = 0;
  uint64_t begin = 0, size = 0;  // in bytes, from the start of the file
  size_t part = 0;               // of the file's parts
};

class GgufFile {
 public:
  /// Reads everything but the tensors' bytes. Throws Error: kIo for what cannot be read, kInvalid for a damaged file,
  /// kUnsupported for other versions and for types that ggml does not have. Of a file in parts
  /// (NAME-00001-of-00003.gguf) `path` is the first, and the others lie beside it.
  explicit GgufFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  /// One, or all parts in their order.
  const std::vector<std::filesystem::path>& parts() const { return parts_; }
  /// Numbers, flags, texts (UTF-8 throughout) and lists of these.
  const std::map<std::string, Json>& values() const { return values_; }
  const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }

  /// The value of a key; null where there is none.
  const Json& value(const std::string& key) const;
  /// The text of a key; `otherwise` where there is none, or another value.
  std::string text(const std::string& key, const std::string& otherwise = "") const;
  /// The whole number of a key, not below 0; likewise.
  int64_t count(const std::string& key, int64_t otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;

  /// The bytes of a tensor.
  std::string read(const GgufTensor& tensor) const;

 private:
  /// The values of a part; its tensors go to `tensors_`.
  std::map<std::string, Json> read_part(const std::filesystem::path& path);

  std::filesystem::path path_;
  std::vector<std::filesystem::path> parts_;
  std::map<std::string, Json> values_;
  std::map<std::string, GgufTensor> tensors_;
};

/// Does a file that begins with these bytes begin as one does?
bool begins_as_gguf(std::string_view bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_FILE_H_
