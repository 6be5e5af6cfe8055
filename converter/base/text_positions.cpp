#include "base/text_positions.h"

#include <algorithm>

#include "text/utf8.h"

namespace bantam::convert {

TextPositions::TextPositions(std::string_view text, PositionUnit unit) : unit_(unit) {
  if (unit == PositionUnit::kBytes) return;
  constexpr size_t kMost = 4;  // bytes of a character
  constexpr uint32_t kOneUnit = 0x10000;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  positions_.reserve(text.size() + 1);
  uint32_t position = 0;
  for (size_t i = 0; i < text.size();) {
    const text::CodePoint point = text::decode_utf8(bytes + i, static_cast<uint32_t>(std::min(kMost, text.size() - i)));
    positions_.insert(positions_.end(), point.size, position);
    position += unit == PositionUnit::kUtf16 && point.code >= kOneUnit ? 2 : 1;
    i += point.size;
  }
  positions_.push_back(position);
}

}  // namespace bantam::convert
