// Character classes for small images: 1.1 KB of tables, scanned instead of indexed.
//
// kCompactRuns stores the runs of code points of one class other than 0, each as three numbers of at least 1: the
// number of the class, 1 plus the length of the class 0 gap before it, and the run's length. The last entry is a gap
// without an end. Numbers are Elias gamma codes, with the highest bit of a byte first: as many zeros as there are bits
// after the number's highest one, then the number.
// kCompactIndex: code point << 11 | byte, positions where a scan may begin; then all ones.
// kCompactValues: for each class, the bits below kDecomposes and, from bit 4 on, its rank; the most frequent class
// first.
#include "text/unicode/unicode.h"

namespace bantam::text {

uint32_t compact_class(uint32_t code) {
  // Most code points of texts are letters and spaces.
  if ((code | 0x20) - 'a' < 26) return 0;
  if (code == ' ') return kSpace;
  const uint32_t* entry = kCompactIndex;
  while (entry[1] >> 11 <= code) ++entry;
  uint32_t end = *entry >> 11;
  uint32_t at = (*entry & 0x7FF) * 8;
  const auto bit = [&at] {
    const uint32_t byte = kCompactRuns[at / 8];
    return byte >> (~at++ & 7) & 1;
  };
  const auto number = [&bit] {
    uint32_t size = 0;
    while (bit() == 0) ++size;
    uint32_t value = 1;
    for (; size != 0; --size) value = value << 1 | bit();
    return value;
  };
  for (;;) {
    const uint32_t kind = number();
    end += number() - 1;
    if (code < end) return 0;
    end += number();
    if (code >= end) continue;
    const uint32_t value = kCompactValues[kind - 1];
    return (value & 0xF) | value >> 4 << kRankShift;
  }
}

}  // namespace bantam::text
