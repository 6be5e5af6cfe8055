// Images: converts pixels to the rows of features that an image model takes (Batch::features).
#ifndef BANTAM_IMAGE_H_
#define BANTAM_IMAGE_H_

#include "bantam/export.h"
#include "bantam/model.h"

BANTAM_EXPORT_BEGIN
namespace bantam {

/// The form of images that a model takes: `height` rows from top to bottom, each of `width` pixels of `channels` bytes,
/// red first.
struct ImageForm {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 0;
  /// Rows of features of one image, and the numbers in each.
  uint32_t tokens = 0;
  uint32_t columns = 0;
};

/// kNoSuchTask: the model takes no images.
Status image_form(const Model& model, ImageForm* out);

/// Computes the rows of features of one image. `pixels`: width * height * channels bytes; `stride`: bytes from one row
/// of pixels to the next, 0: rows are contiguous. `features`: tokens * columns floats, owned by the caller. O(pixels).
/// kNoSuchTask: the model takes no images; kInvalidArgument: a pointer is null or rows overlap.
Status image_features(const Model& model, const uint8_t* pixels, size_t stride, float* features);

/// How a host should resize an image of another size; the file has these settings from training.
enum class ImageFilter : uint8_t { kNearest = 0, kLanczos = 1, kBilinear = 2, kBicubic = 3, kBox = 4, kHamming = 5 };
struct ImageFit {
  ImageFilter filter = ImageFilter::kBicubic;
  uint32_t shortest = 0;  // pixels of the shorter side, aspect ratio kept; 0: use `width` and `height`
  uint32_t width = 0;     // 0: images are not resized
  uint32_t height = 0;
};
/// Returns the model's settings; all are 0 if the model takes no images.
ImageFit image_fit(const Model& model);

}  // namespace bantam
BANTAM_EXPORT_END

#endif  // BANTAM_IMAGE_H_
