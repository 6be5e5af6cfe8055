// Numbers in the bytes of a file, which may lie at any address.
#ifndef BANTAM_CONVERTER_FORMAT_BYTES_H_
#define BANTAM_CONVERTER_FORMAT_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bantam::convert {

/// Number `index` of those that begin at `bytes`.
template <typename T>
T load(const uint8_t* bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_FORMAT_BYTES_H_
