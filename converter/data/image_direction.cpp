#include "data/image_direction.h"

#include <cstring>
#include <utility>

namespace bantam::convert {
namespace {

constexpr std::string_view kExif("Exif\0\0", 6);

/// Reads a number of `size` bytes at `at`; returns 0 if it reaches beyond the end.
uint32_t number(std::string_view bytes, size_t at, size_t size, bool little) {
  if (at > bytes.size() || bytes.size() - at < size) return 0;
  uint32_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value = value << 8 | static_cast<uint8_t>(bytes[at + (little ? size - 1 - i : i)]);
  }
  return value;
}

/// Returns the orientation in the first directory of a TIFF header (EXIF 2.3); 1 if there is none.
uint32_t in_tiff(std::string_view tiff) {
  constexpr uint32_t kTag = 0x0112, kShort = 3, kEntry = 12;
  if (tiff.substr(0, 2) != "II" && tiff.substr(0, 2) != "MM") return 1;
  const bool little = tiff[0] == 'I';
  const size_t directory = number(tiff, 4, 4, little);
  const uint32_t entries = number(tiff, directory, 2, little);
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + size_t{i} * kEntry;
    if (entry >= tiff.size()) break;
    if (number(tiff, entry, 2, little) != kTag || number(tiff, entry + 2, 2, little) != kShort) continue;
    const uint32_t direction = number(tiff, entry + 8, 2, little);
    return direction >= 1 && direction <= 8 ? direction : 1;
  }
  return 1;
}

/// Reads the segments before the pixels: 0xFF, a marker, two bytes of size.
uint32_t in_jpeg(std::string_view file) {
  constexpr uint8_t kApplication1 = 0xE1, kScan = 0xDA;
  for (size_t at = 2; at + 4 <= file.size() && file[at] == '\xFF';) {
    const auto marker = static_cast<uint8_t>(file[at + 1]);
    if (marker == 0xFF) {  // fill bytes
      ++at;
      continue;
    }
    const uint32_t size = number(file, at + 2, 2, false);
    if (marker == kScan || size < 2) break;
    const std::string_view body = file.substr(at + 4, size - 2);
    if (marker == kApplication1 && body.substr(0, kExif.size()) == kExif) return in_tiff(body.substr(kExif.size()));
    at += 2 + size_t{size};
  }
  return 1;
}

/// Reads the chunks: four bytes of size, a name, the data, and a checksum of four bytes.
uint32_t in_png(std::string_view file) {
  constexpr size_t kAround = 12;
  for (size_t at = 8; at < file.size();) {
    const uint32_t size = number(file, at, 4, false);
    const std::string_view name = file.substr(at + 4 < file.size() ? at + 4 : file.size(), 4);
    if (name.empty() || name == "IEND") break;
    if (name == "eXIf" && at + 8 < file.size()) return in_tiff(file.substr(at + 8, size));
    at += kAround + size;
  }
  return 1;
}

}  // namespace

uint32_t image_direction(std::string_view file) {
  if (file.substr(0, 2) == "\xFF\xD8") return in_jpeg(file);
  return file.substr(0, 4) == "\x89PNG" ? in_png(file) : 1;
}

Pixels upright(Pixels image, uint32_t direction) {
  if (direction < 2 || direction > 8) return image;
  // `turned`: the rows of the stored image are columns. `from_right`, `from_below`: they run in the opposite direction.
  const bool turned = direction >= 5;
  const bool from_right = direction == 2 || direction == 3 || direction == 7 || direction == 8;
  const bool from_below = direction == 3 || direction == 4 || direction == 6 || direction == 7;
  Pixels out;
  out.width = turned ? image.height : image.width;
  out.height = turned ? image.width : image.height;
  out.rgb.resize(image.rgb.size());
  uint8_t* to = out.rgb.data();
  for (uint32_t y = 0; y < out.height; ++y) {
    for (uint32_t x = 0; x < out.width; ++x, to += 3) {
      const uint32_t column = turned ? y : x, row = turned ? x : y;
      const uint32_t from_x = from_right ? image.width - 1 - column : column;
      const uint32_t from_y = from_below ? image.height - 1 - row : row;
      std::memcpy(to, image.rgb.data() + (size_t{from_y} * image.width + from_x) * 3, 3);
    }
  }
  return out;
}

}  // namespace bantam::convert
