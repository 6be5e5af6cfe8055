// Character classes for images that count bytes: 1.4 KB, walked instead of indexed.
//
// kCompactRuns holds the runs of code points of one class other than 0, each as
//   u8      bits 3-7 number of the class, bits 1-2 the run's length if it is 1 to 3, bit 0: a gap of class 0 lies before it
//   varint  the gap's length, if there is one
//   varint  the run's length, if it is longer than 3
// A varint has 7 bits a byte, the highest first, bit 7 set in all but the last. The last run is a gap without an end.
// kCompactIndex: code point << 11 | byte, where a walk may begin; then all ones.
// kCompactValues: of a class, the bits below kDecomposes and, from bit 4 on, its rank.
#include "text/unicode.h"

namespace bantam::text {

uint32_t compact_class(uint32_t code) {
  if ((code | 0x20) - 'a' < 26) return 0;
  const uint32_t* entry = kCompactIndex;
  while (entry[1] >> 11 <= code) ++entry;
  uint32_t end = *entry >> 11;
  const uint8_t* at = kCompactRuns + (*entry & 0x7FF);
  const auto varint = [&at] {
    uint32_t value = 0;
    do value = value << 7 | (*at & 127u);
    while (*at++ > 127);
    return value;
  };
  for (;;) {
    const uint32_t head = *at++;
    if ((head & 1) != 0) end += varint();
    if (code < end) return 0;
    const uint32_t size = head >> 1 & 3;
    end += size != 0 ? size : varint();
    if (code >= end) continue;
    const uint32_t value = kCompactValues[head >> 3];
    return (value & 0xF) | value >> 4 << kRankShift;
  }
}

}  // namespace bantam::text
