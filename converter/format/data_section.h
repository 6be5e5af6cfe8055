// The data section of a file while it grows.
#ifndef BANTAM_CONVERTER_FORMAT_DATA_SECTION_H_
#define BANTAM_CONVERTER_FORMAT_DATA_SECTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// Every blob begins at a multiple of 64 bytes; gaps are zero.
class DataSection {
 public:
  /// Appends `size` bytes and returns where they lie.
  fb::Blob add(const void* bytes, size_t size);
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_DATA_SECTION_H_
