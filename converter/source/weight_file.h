// A file of named tensors, whatever its format.
#ifndef BANTAM_CONVERTER_SOURCE_WEIGHT_FILE_H_
#define BANTAM_CONVERTER_SOURCE_WEIGHT_FILE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bantam::convert {

/// One tensor of a file, its place checked against the file's size.
struct StoredTensor {
  std::string dtype;  // as safetensors writes it: "F32", "F16", "BF16", "I64", ...
  std::vector<uint64_t> shape;
  uint64_t begin = 0;  // bytes from the start of the file, or of the storage that holds it
  uint64_t size = 0;   // bytes, without holes
  uint64_t elements = 0;
};

/// A file whose description of its tensors has been read and checked. Reads lazily; the file stays where it is.
class WeightFile {
 public:
  explicit WeightFile(std::filesystem::path path);
  virtual ~WeightFile() = default;
  WeightFile(const WeightFile&) = delete;
  WeightFile& operator=(const WeightFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

  /// As if it were not in the file.
  void leave_out(const std::string& name) { tensors_.erase(name); }

  /// The elements of a tensor of any type, row-major and little-endian. Throws Error (kIo, kInvalid).
  virtual std::string read_bytes(const std::string& name) const = 0;

  /// Bytes [begin, begin + size) of read_bytes(); only if reads_parts(). Throws Error (kIo). May be called by several
  /// threads.
  virtual std::string read_part(const std::string& name, uint64_t begin, size_t size) const;
  /// Returns true if parts of a tensor can be read without its other bytes.
  virtual bool reads_parts() const { return false; }

  /// Values [first, first + count) of read(), into `out`; only if reads_parts(). Throws Error as read() does.
  void read_values(const std::string& name, uint64_t first, size_t count, float* out) const;

  /// Values of an F32, F16 or BF16 tensor as f32 (all conversions exact). Throws Error: kUnsupported for other types,
  /// kInvalid when a value is NaN or infinite, kIo when the file cannot be read.
  std::vector<float> read(const std::string& name) const;

 private:
  /// Bytes of a value; throws Error (kUnsupported) for other types.
  size_t bytes_of_value(const std::string& name) const;
  void decode(const std::string& name, const std::string& bytes, uint64_t first, size_t count, float* out) const;

 protected:
  std::filesystem::path path_;
  std::map<std::string, StoredTensor> tensors_;
};

/// Values of a tensor as WeightFile::read gives them, or of F64 rounded to f32; what rounds to infinity is refused, too.
std::vector<float> read_floats(const WeightFile& file, const std::string& name);

/// Bytes of a regular file that can be opened; throws Error (kIo) for another.
uint64_t size_of_file(const std::filesystem::path& path);

/// *out = a * b, where that is below 2^64: extents come from strangers.
bool multiply(uint64_t a, uint64_t b, uint64_t* out);

/// How torch saves a file again in the format of its release.
std::string save_again(const std::filesystem::path& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_WEIGHT_FILE_H_
