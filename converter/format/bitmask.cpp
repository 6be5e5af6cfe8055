#include "format/bitmask.h"

#include <array>
#include <cstring>

#include "base/size.h"
#include "format/bytes.h"
#include "format/view.h"
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

void visit_bitmask(const fb::Tensor& tensor, const uint8_t* data, BlockSink& sink) {
  const uint32_t outputs = kernels::pad16(extent(tensor, 0));
  const uint32_t inputs = kernels::pad4(extent(tensor, 1));
  const uint8_t* stored = data + bitmask_bytes(tensor);
  size_t tile = 0;
  for (uint32_t panel = 0; panel < outputs; panel += 16) {
    for (uint32_t k = 0; k < inputs; k += 4, ++tile) {
      const auto mask = load<uint64_t>(data, tile);
      for (uint32_t i = 0; i < 16; ++i) {
        std::array<int8_t, 4> weights = {};
        for (uint32_t j = 0; j < 4; ++j) {
          if ((mask >> (i * 4 + j) & 1) != 0) weights[j] = static_cast<int8_t>(*stored++);
        }
        sink.block(panel + i, k, weights.data());
      }
    }
  }
}

}  // namespace bantam::convert
