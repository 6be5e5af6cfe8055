// Resizes images with the filters of Pillow's Image.resize, bit for bit, because image models were trained on its
// results.
#ifndef BANTAM_CONVERTER_DATA_IMAGE_RESIZE_H_
#define BANTAM_CONVERTER_DATA_IMAGE_RESIZE_H_

#include "bantam/image.h"
#include "data/image_file.h"

namespace bantam::convert {

/// Resizes to `width` by `height` pixels, at least one each. Each output is the weighted mean of the inputs under its
/// filter, which is widened to the step between outputs if the step exceeds one pixel. Rows are resized first, then
/// columns, with weights of 22 bits. O(width * (image.height + height) * taps).
Pixels resized(const Pixels& image, uint32_t width, uint32_t height, ImageFilter filter);

/// Returns cropped(resized(...), cut_width, cut_height), but computes only the remaining pixels. O(cut_width *
/// (image.height + cut_height) * taps) time; memory for at most cut_width * (image.height + cut_height) pixels.
Pixels resized_middle(const Pixels& image, uint32_t width, uint32_t height, ImageFilter filter, uint32_t cut_width,
                      uint32_t cut_height);

/// Crops the image to its middle; pads it with black where it is smaller.
Pixels cropped(const Pixels& image, uint32_t width, uint32_t height);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_IMAGE_RESIZE_H_
