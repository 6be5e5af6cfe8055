// SHA-256 (FIPS 180-4): identifies the source files of a converted model in its properties.
#ifndef BANTAM_CONVERTER_BASE_SHA256_H_
#define BANTAM_CONVERTER_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bantam::convert {

class Sha256 {
 public:
  void update(const void* data, size_t size);
  /// 64 lower-case hexadecimal digits; the object must not be used afterwards.
  std::string finish();

 private:
  void block(const uint8_t* data);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_size_ = 0;
  uint64_t total_ = 0;
};

/// Returns the digest of these bytes.
std::string sha256_of(std::string_view bytes);

/// Returns the digest of a file's bytes; for a pipe or a device, whose bytes are consumed, the digest of no bytes.
/// Throws Error (I/O) if the path cannot be read, is a folder, or is truncated meanwhile.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_SHA256_H_
