#include "format/bitmask.h"

#include <cstring>

#include "base/size.h"
#include "kernels/kernels.h"

namespace bantam::convert {

std::vector<uint8_t> compress_bitmask(const int8_t* weights, size_t rows, size_t columns) {
  const size_t panels = (rows + 15) / 16;
  const size_t quads = (columns + 3) / 4;
  std::vector<uint8_t> bytes(in_memory(uint64_t{panels} * quads * sizeof(uint64_t)), 0);
  for (size_t tile = 0; tile < panels * quads; ++tile) {
    uint64_t mask = 0;
    for (size_t i = 0; i < 64; ++i) {
      const size_t row = tile / quads * 16 + i / 4;
      const size_t column = tile % quads * 4 + i % 4;
      if (row >= rows || column >= columns) continue;
      const int8_t weight = weights[row * columns + column];
      if (weight == 0) continue;
      mask |= uint64_t{1} << i;
      bytes.push_back(static_cast<uint8_t>(weight));
    }
    std::memcpy(bytes.data() + tile * sizeof mask, &mask, sizeof mask);
  }
  bytes.resize(bytes.size() + kernels::kBitmaskSlack, 0);
  return bytes;
}

}  // namespace bantam::convert
