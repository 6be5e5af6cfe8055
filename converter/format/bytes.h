// Reads numbers at any address in the bytes of a file.
#ifndef BANTAM_CONVERTER_FORMAT_BYTES_H_
#define BANTAM_CONVERTER_FORMAT_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bantam::convert {

/// Returns element `index` of the array at `bytes`.
template <typename T>
T load(const uint8_t* bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_BYTES_H_
