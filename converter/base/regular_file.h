// RegularFile: an open file of known size. Its name is resolved once, when it is opened.
#ifndef BANTAM_CONVERTER_BASE_REGULAR_FILE_H_
#define BANTAM_CONVERTER_BASE_REGULAR_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace bantam::convert {

class RegularFile {
 public:
  /// Throws Error (kIo) if the path does not exist, cannot be opened or is not a regular file. Never blocks on a pipe.
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  /// Size in bytes when the file was opened.
  uint64_t size() const { return size_; }
  /// Reads the next bytes, at most `size`; returns their number, which is less at the end of the file. Throws Error
  /// (kIo) if reading fails.
  size_t read(void* out, size_t size);
  /// Reads `size` bytes from offset `begin`. Throws Error (kIo) if reading fails or the file is shorter: it was
  /// truncated meanwhile.
  void read_all(uint64_t begin, void* out, size_t size);

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_REGULAR_FILE_H_
