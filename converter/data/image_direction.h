// The orientation of a photograph, from the EXIF data of a JPEG or PNG file.
#ifndef BANTAM_CONVERTER_DATA_IMAGE_DIRECTION_H_
#define BANTAM_CONVERTER_DATA_IMAGE_DIRECTION_H_

#include <string_view>

#include "data/image_file.h"

namespace bantam::convert {

/// Returns EXIF's tag Orientation, 1 to 8, from a file's bytes; returns 1 (as stored) if it is missing or damaged.
/// O(bytes before the pixels).
uint32_t image_direction(std::string_view file);

/// Returns the upright image, rotated and mirrored according to `direction`. O(pixels).
Pixels upright(Pixels image, uint32_t direction);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_IMAGE_DIRECTION_H_
