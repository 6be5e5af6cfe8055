// Image files and their resizing: no crash, no hang, and no memory that only a header claims to need.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "data/image_file.h"
#include "data/image_resize.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bantam;  // NOLINT(google-build-using-namespace)
  if (size < 3) return 0;
  const auto filter = static_cast<ImageFilter>(data[0] % 6);
  const uint32_t width = 1 + data[1] % 32, height = 1 + data[2] % 32;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  try {
    const convert::Pixels image = convert::decode_image("fuzz", bytes);
    if (image.rgb.size() != size_t{image.width} * image.height * 3) __builtin_trap();
    if (image.rgb.size() > 1U << 20) return 0;  // large images take long and test nothing new
    const convert::Pixels other = convert::cropped(convert::resized(image, width, height, filter), height, width);
    if (other.rgb.size() != size_t{width} * height * 3) __builtin_trap();
  } catch (const convert::Error&) {
  }
  return 0;
}
