// Decodes image files to pixels: PNG and JPEG if this build has their libraries, PPM and PGM always.
#ifndef BANTAM_CONVERTER_DATA_IMAGE_FILE_H_
#define BANTAM_CONVERTER_DATA_IMAGE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert {

/// `height` rows of `width` pixels of three bytes each: red, green, blue.
struct Pixels {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

/// Limits on the number of pixels of an image and of a side. A larger image is refused after reading its header, before
/// memory is allocated.
constexpr uint64_t kMostImagePixels = 100'000'000;
constexpr uint32_t kMostImageSide = 32'768;

/// Reads the file as transformers' load_image and Pillow do: rotated upright by EXIF, with the high bytes of 16-bit
/// channels, with three equal channels for gray images, and with transparent pixels as if they were opaque. Throws
/// Error with the file's name: kIo, kInvalid (truncated, not an image, too large), kUnsupported (another format, or one
/// that this build omits).
Pixels read_image_file(const std::string& path);
/// Decodes the bytes of a file in the same way; errors name it `path`.
Pixels decode_image(const std::string& path, std::string_view bytes);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_IMAGE_FILE_H_
