// zip archives, as far as torch checkpoints need them: uncompressed entries.
// Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#ifndef BANTAM_CONVERTER_SOURCE_ZIP_H_
#define BANTAM_CONVERTER_SOURCE_ZIP_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace bantam::convert {

struct ZipEntry {
  uint64_t header = 0;  // offset of its local header
  uint64_t size = 0;    // bytes
  uint32_t crc = 0;
  bool stored = false;  // neither compressed nor encrypted
};

/// An archive whose central directory has been read: all entries lie before it, and names are unique.
class ZipFile {
 public:
  /// Throws Error (kIo, kInvalid) if the file is not an archive, or its directory is longer than 64 MB or does not fit
  /// the file.
  explicit ZipFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, ZipEntry>& entries() const { return entries_; }

  /// Returns the bytes of one of entries(). Throws Error: kInvalid if they are compressed, lie outside the archive or
  /// do not have the checksum in the directory; kIo.
  std::string read(const std::string& name) const;
  /// Returns `size` bytes of an entry from `begin` on, which must lie within it, without checking the checksum.
  std::string read_part(const std::string& name, uint64_t begin, uint64_t size) const;

 private:
  /// Returns the offset of the entry's bytes in the file.
  uint64_t find(const std::string& name) const;
  void read_directory(const std::string& directory, uint64_t count, uint64_t end);

  std::filesystem::path path_;
  uint64_t directory_ = 0;  // offset of the directory, before which all entries end
  std::map<std::string, ZipEntry> entries_;
};

/// The checksum of zip (polynomial 0xEDB88320, reflected).
uint32_t crc32(const std::string& bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_ZIP_H_
