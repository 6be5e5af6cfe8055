#include "text/lexicon.h"

namespace bantam::text {

int32_t Lexicon::find(const uint8_t* bytes, uint32_t size) const {
  uint32_t base = roots->vocabulary;
  bool accepts = false;
  for (uint32_t at = 0; at < size; ++at) {
    const uint32_t c = bytes[at];
    if (c == 0 || c == kUnitValueLabel) return -1;
    const uint32_t unit = units[base ^ c];
    if ((unit & 0xFF) != c) return -1;
    base = unit >> kUnitBaseShift;
    if ((unit & kUnitLeaf) != 0) {
      const uint32_t rest = size - at - 1;
      return tail(base, at + 1, bytes + at + 1, rest) == rest ? static_cast<int32_t>(base) : -1;
    }
    accepts = (unit & kUnitAccept) != 0;
  }
  return accepts ? static_cast<int32_t>(value(base)) : -1;
}

}  // namespace bantam::text
