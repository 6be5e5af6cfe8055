// A file of named tensors, in any format.
#ifndef BANTAM_CONVERTER_SOURCE_WEIGHT_FILE_H_
#define BANTAM_CONVERTER_SOURCE_WEIGHT_FILE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bantam::convert {

/// StoredTensor::dtype of matrices whose rows are -1, 0 and 1 times a scale.
inline constexpr const char* kTernaryTensor = "TERNARY";

/// A tensor of a file; its location has been checked against the file's size.
struct StoredTensor {
  std::string dtype;  // named as in safetensors: "F32", "F16", "BF16", "I64", ...
  std::vector<uint64_t> shape;
  uint64_t begin = 0;  // bytes from the start of the file, or of the tensor's storage
  uint64_t size = 0;   // bytes, without gaps
  uint64_t elements = 0;
};

/// A file whose tensor descriptions have been read and checked. Data is read on demand, so that the file must stay in
/// place.
class WeightFile {
 public:
  explicit WeightFile(std::filesystem::path path);
  virtual ~WeightFile() = default;
  WeightFile(const WeightFile&) = delete;
  WeightFile& operator=(const WeightFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

  /// Hides a tensor, as if it were not in the file.
  void leave_out(const std::string& name) { tensors_.erase(name); }

  /// Returns the elements of a tensor of any type, row-major and little-endian. Throws Error (kIo, kInvalid).
  virtual std::string read_bytes(const std::string& name) const = 0;

  /// Bytes [begin, begin + size) of read_bytes(); only if reads_parts(). Throws Error (kIo). May be called by several
  /// threads.
  virtual std::string read_part(const std::string& name, uint64_t begin, size_t size) const;
  /// Returns true if parts of a tensor can be read without its other bytes.
  virtual bool reads_parts() const { return false; }

  /// Values [first, first + count) of read(), into `out`; only if reads_parts(). Throws Error as read() does.
  void read_values(const std::string& name, uint64_t first, size_t count, float* out) const;

  /// Returns the values of an F32, F16 or BF16 tensor as f32 (all conversions are exact). Throws Error: kUnsupported
  /// for other types, kInvalid if a value is NaN or infinite, kIo if the file cannot be read.
  std::vector<float> read(const std::string& name) const;

 private:
  /// Bytes of a value; throws Error (kUnsupported) for other types.
  size_t bytes_of_value(const std::string& name) const;
  void decode(const std::string& name, const std::string& bytes, uint64_t first, size_t count, float* out) const;

 protected:
  std::filesystem::path path_;
  std::map<std::string, StoredTensor> tensors_;
};

/// Returns the values as WeightFile::read does, and also those of F64 tensors rounded to f32; refuses values that round
/// to infinity.
std::vector<float> read_floats(const WeightFile& file, const std::string& name);

/// Returns the size in bytes of a regular file that can be opened; throws Error (kIo) otherwise.
uint64_t size_of_file(const std::filesystem::path& path);

/// Sets *out = a * b and returns true if that is below 2^64; the extents of files are untrusted.
bool multiply(uint64_t a, uint64_t b, uint64_t* out);

/// Advice on how to save a file again with torch, in the format of its release.
std::string save_again(const std::filesystem::path& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_WEIGHT_FILE_H_
