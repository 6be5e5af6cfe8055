#include "base/npy.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace bantam::convert {

std::string npy_file(const std::vector<float>& values, size_t rows, size_t columns) {
  constexpr size_t kBeforeHeader = 10;  // magic, version, the header's size
  constexpr size_t kAlignment = 64;
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  header.append(kAlignment - 1 - (kBeforeHeader + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.reserve(file.size() + values.size() * sizeof(float));
  for (const float value : values) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    for (uint32_t shift = 0; shift < 32; shift += 8) file += static_cast<char>(bits >> shift & 0xFF);
  }
  return file;
}

}  // namespace bantam::convert
