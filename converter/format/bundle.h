// A bundle: a program and the model that it runs, in one file. It consists of the program (ELF), zeros up to a page
// boundary, the unchanged .bantam file, zeros up to a multiple of eight bytes, and a trailer, the last 64 bytes
// (little-endian):
//
//   0  "bantamap"
//   8  version of the trailer, 1           12  CRC-32C of all bytes before the trailer
//  16  offset of the model                24  its size
//  32  the program's command, padded with zeros (16 bytes)
//  48  size of the whole file              56  CRC-32C of the trailer up to here, then zeros
//
// See docs/bundle.md. The program finds the model in its own file and runs it where it is mapped.
#ifndef BANTAM_CONVERTER_FORMAT_BUNDLE_H_
#define BANTAM_CONVERTER_FORMAT_BUNDLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// The location of the model in a bundle.
struct Bundle {
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string command;
};

/// Returns true if the file begins like a program. Such a file is a bundle, or damaged.
bool is_program(const uint8_t* bytes, size_t size);

/// Returns true if the file ends with a trailer, whether valid or not.
bool has_trailer(const uint8_t* bytes, size_t size);

/// Reads the trailer of a file for which is_program() is true. Throws Error (kInvalid) with `path` and the cause if the
/// file has no model or is truncated.
Bundle read_trailer(const uint8_t* bytes, size_t size, const std::string& path);

/// As read_trailer(), but also throws if any byte has changed: reads the whole file.
Bundle read_bundle(const uint8_t* bytes, size_t size, const std::string& path);

/// The pieces of a bundle in order; `runner` and `model` must outlive the object.
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
