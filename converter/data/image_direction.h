// The direction in which a camera was held, by the EXIF data of a JPEG or PNG.
#ifndef BANTAM_CONVERTER_DATA_IMAGE_DIRECTION_H_
#define BANTAM_CONVERTER_DATA_IMAGE_DIRECTION_H_

#include <string_view>

#include "data/image_file.h"

namespace bantam::convert {

/// EXIF's tag Orientation, 1 to 8, of a file's bytes; 1, as stored, where there is none or the data is broken. O(bytes in front of
/// the pixels).
uint32_t image_direction(std::string_view file);

/// The image as it was seen: turned and mirrored as `direction` says. O(pixels).
Pixels upright(Pixels image, uint32_t direction);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_IMAGE_DIRECTION_H_
