#include "text/char_map.h"

namespace bantam::text {

uint32_t CharMap::find(uint32_t code, uint32_t out[kMaxExpansion]) const {
  const uint8_t* at = begin;
  const auto varint = [&at, this] {
    uint32_t value = 0;
    while (at < end) {
      value = value << 7 | (*at & 127u);
      if (*at++ < 128) break;
    }
    return value;
  };
  uint32_t first = 0;
  while (at < end) {
    first += varint();
    if (first > code) break;
    const uint32_t head = varint();
    const auto kind = static_cast<MapRun>(head & 3);
    const uint32_t last = head >> 2;
    if (kind == MapRun::kSequence) {
      uint32_t size = 0;
      for (uint32_t i = 0; i <= last && at < end; ++i) {
        const uint32_t part = varint();
        if (i < kMaxExpansion) out[size++] = part < 0x110000 ? part : kReplacement;
      }
      if (first == code) return size;
      ++first;
      continue;
    }
    const uint32_t target = varint();
    const uint32_t stride = kind == MapRun::kSecond ? 2 : 1;
    const uint32_t step = code - first;
    if (step / stride <= last && step % stride == 0) {
      const uint32_t to = kind == MapRun::kSame ? target : code + (target >> 1 ^ (0 - (target & 1)));
      out[0] = to < 0x110000 ? to : kReplacement;
      return 1;
    }
    first += last * stride + 1;
  }
  return 0;
}

}  // namespace bantam::text
