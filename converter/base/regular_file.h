// RegularFile: an open file of known size. Its name is looked up once, when it is opened.
#ifndef BANTAM_CONVERTER_BASE_REGULAR_FILE_H_
#define BANTAM_CONVERTER_BASE_REGULAR_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace bantam::convert {

class RegularFile {
 public:
  /// Throws Error (kIo) for what is not there, cannot be opened or is no regular file; never waits for the other end of
  /// a pipe.
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  /// Bytes, when the file was opened.
  uint64_t size() const { return size_; }
  /// The next bytes, at most `size` of them; returns their number, less where the file ends. Throws Error (kIo) where it cannot be
  /// read.
  size_t read(void* out, size_t size);
  /// The bytes from `begin` on. Throws Error (kIo) where it cannot be read, or ends before: it has been cut short meanwhile.
  void read_all(uint64_t begin, void* out, size_t size);

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_REGULAR_FILE_H_
