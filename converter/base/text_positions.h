// Positions in a text, counted in the units of other programs.
#ifndef BANTAM_CONVERTER_BASE_TEXT_POSITIONS_H_
#define BANTAM_CONVERTER_BASE_TEXT_POSITIONS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// The unit of positions. Bytes: C, C++, Go, Rust. Characters (code points): Python. UTF-16 units: JavaScript, Java,
/// C#.
enum class PositionUnit : uint8_t { kBytes, kCharacters, kUtf16 };

/// Positions in one text. Ill-formed UTF-8 counts as U+FFFD, as in JSON.
class TextPositions {
 public:
  /// O(bytes), or O(1) if the unit is bytes.
  TextPositions(std::string_view text, PositionUnit unit);

  /// Returns the position of byte `byte`, or of its character if the byte lies within one. O(1).
  uint32_t at(uint32_t byte) const {
    if (unit_ == PositionUnit::kBytes) return byte;
    return positions_[byte < positions_.size() ? byte : positions_.size() - 1];
  }

 private:
  PositionUnit unit_;
  std::vector<uint32_t> positions_;  // of each byte, and one past the last
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_TEXT_POSITIONS_H_
