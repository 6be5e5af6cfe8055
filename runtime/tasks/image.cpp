#include "bantam/image.h"

#include "format/view.h"
#include "linked.h"

#if BANTAM_IF_LINKED(op_Features)

namespace bantam {
namespace {

const fb::Image* image_of(const Model& model) { return linked::kFeatures ? root(model).image() : nullptr; }

float* zero_rows(size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) *out++ = 0;
  return out;
}

/// Writes one patch: for each channel its pixels, row by row.
float* patch_row(const fb::Image& image, const uint8_t* pixels, size_t stride, float* out) {
  const uint32_t channels = image.channels(), size = image.patch();
  for (uint32_t channel = 0; channel < channels; ++channel) {
    const float factor = image.factor()->Get(channel), shift = image.shift()->Get(channel);
    for (uint32_t y = 0; y < size; ++y) {
      const uint8_t* from = pixels + y * stride + channel;
      for (uint32_t x = 0; x < size; ++x, from += channels) *out++ = static_cast<float>(*from) * factor + shift;
    }
  }
  return out;
}

}  // namespace

Status image_form(const Model& model, ImageForm* out) {
  const fb::Image* image = image_of(model);
  if (image == nullptr) return Status::kNoSuchTask;
  out->width = image->width();
  out->height = image->height();
  out->channels = image->channels();
  out->tokens = image_tokens(*image);
  out->columns = feature_width(root(model));
  return Status::kOk;
}

Status image_features(const Model& model, const uint8_t* pixels, size_t stride, float* features) {
  const fb::Image* image = image_of(model);
  if (image == nullptr) return Status::kNoSuchTask;
  const size_t row = size_t{image->width()} * image->channels();
  if (stride == 0) stride = row;
  if (pixels == nullptr || features == nullptr || stride < row) return Status::kInvalidArgument;
  const uint32_t patch = image->patch();
  const size_t columns = feature_width(root(model));
  features = zero_rows(image->in_front() * columns, features);
  for (uint32_t y = 0; y < image->height(); y += patch) {
    for (uint32_t x = 0; x < image->width(); x += patch) {
      features = patch_row(*image, pixels + y * stride + size_t{x} * image->channels(), stride, features);
    }
  }
  zero_rows(image->behind() * columns, features);
  return Status::kOk;
}

ImageFit image_fit(const Model& model) {
  const fb::Image* image = image_of(model);
  if (image == nullptr) return {};
  return {static_cast<ImageFilter>(image->filter()), image->shortest(), image->resize_width(), image->resize_height()};
}

}  // namespace bantam

#endif  // BANTAM_IF_LINKED(op_Features)
