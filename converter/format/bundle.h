// A bundle: a program and the model that it runs, in one file. Program (ELF), zeros up to a page, the .bantam file as it is, zeros
// up to eight bytes, and a trailer, the last 64 bytes (little-endian):
//
//   0  "bantamap"
//   8  version of the trailer, 1           12  CRC-32C of all bytes before the trailer
//  16  where the model begins              24  its size
//  32  the command that the program is, zeros behind it (16 bytes)
//  48  size of the whole file              56  CRC-32C of the trailer so far, then zeros
//
// docs/bundle.md. The program finds it in its own file and runs the model where it is mapped.
#ifndef BANTAM_CONVERTER_FORMAT_BUNDLE_H_
#define BANTAM_CONVERTER_FORMAT_BUNDLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// The place of the model in a bundle.
struct Bundle {
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string command;
};

/// Returns true if the file begins like a program. Such a file is a bundle, or damaged.
bool is_program(const uint8_t* bytes, size_t size);

/// Returns true if the file ends with a trailer, whether valid or not.
bool has_trailer(const uint8_t* bytes, size_t size);

/// Reads the trailer of a file that is_program(). Throws Error (kInvalid) with `path` and the cause if the file has no
/// model or was cut short.
Bundle read_trailer(const uint8_t* bytes, size_t size, const std::string& path);

/// Does the same, and throws also if any byte has changed: reads the whole file.
Bundle read_bundle(const uint8_t* bytes, size_t size, const std::string& path);

/// The pieces of a bundle one after the other; `runner` and `model` live longer than they do.
class BundleParts {
 public:
  BundleParts(std::string_view runner, std::string_view model, const std::string& command);
  const std::vector<std::string_view>& parts() const { return parts_; }
  uint64_t size() const;

 private:
  std::string padding_, end_, trailer_;
  std::vector<std::string_view> parts_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_BUNDLE_H_
