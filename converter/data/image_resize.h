// Images of another size: with the filters, and the bits, of Pillow's Image.resize, which models of images were trained behind.
#ifndef BANTAM_CONVERTER_DATA_IMAGE_RESIZE_H_
#define BANTAM_CONVERTER_DATA_IMAGE_RESIZE_H_

#include "bantam/image.h"
#include "data/image_file.h"

namespace bantam::convert {

/// `width` by `height` pixels, at least one each. Each output is the mean of the inputs that its filter covers, which is as wide as the
/// step between outputs where that is more than a pixel; first along rows, then along columns, with weights of 22 binary digits.
/// O(width * (image.height + height) * taps).
Pixels resized(const Pixels& image, uint32_t width, uint32_t height, ImageFilter filter);

/// cropped(resized(...), cut_width, cut_height), of which only what is left is made.
/// O(cut_width * (image.height + cut_height) * taps), and no more memory than cut_width * (image.height + cut_height) pixels.
Pixels resized_middle(const Pixels& image, uint32_t width, uint32_t height, ImageFilter filter, uint32_t cut_width,
                      uint32_t cut_height);

/// The middle; black where the image is smaller.
Pixels cropped(const Pixels& image, uint32_t width, uint32_t height);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_DATA_IMAGE_RESIZE_H_
