// zip archives as far as checkpoints of torch need them: entries that are stored as they are.
// Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#ifndef BANTAM_CONVERTER_SOURCE_ZIP_H_
#define BANTAM_CONVERTER_SOURCE_ZIP_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace bantam::convert {

struct ZipEntry {
  uint64_t header = 0;  // where its local header lies
  uint64_t size = 0;    // bytes
  uint32_t crc = 0;
  bool stored = false;  // neither compressed nor encrypted
};

/// An archive whose directory has been read: entries lie before it, names are unique.
class ZipFile {
 public:
  /// Throws Error (kIo, kInvalid) for a file that is no archive, whose directory is longer than 64 MB or does not fit it.
  explicit ZipFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, ZipEntry>& entries() const { return entries_; }

  /// The bytes of one of entries(). Throws Error: kInvalid where they are compressed, lie outside the archive or do not
  /// have the checksum that the directory states; kIo.
  std::string read(const std::string& name) const;
  /// `size` of its bytes from `begin` on, which lie in it; the checksum is not looked at.
  std::string read_part(const std::string& name, uint64_t begin, uint64_t size) const;

 private:
  /// Where the entry's bytes begin in the file.
  uint64_t find(const std::string& name) const;
  void read_directory(const std::string& directory, uint64_t count, uint64_t end);

  std::filesystem::path path_;
  uint64_t directory_ = 0;  // where the directory begins: entries end before it
  std::map<std::string, ZipEntry> entries_;
};

/// The checksum of zip (polynomial 0xEDB88320, reflected).
uint32_t crc32(const std::string& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_ZIP_H_
