#include "run/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bantam/sound.h"
#include "base/error.h"
#include "base/printable.h"
#include "data/image_file.h"
#include "data/image_resize.h"
#include "data/sound_file.h"
#include "run/engine.h"

namespace bantam::convert {
namespace {

/// The size of the image before its middle is cut out.
struct FittedSides {
  uint32_t width, height;
};

/// Returns the size that the model states; with `shortest`, the other side is rounded as in transformers.
FittedSides sides_of(const Pixels& image, const ImageFit& fit, const std::string& path) {
  if (fit.shortest == 0) {
    const bool resizes = fit.width != 0 && fit.height != 0;
    return resizes ? FittedSides{fit.width, fit.height} : FittedSides{image.width, image.height};
  }
  const uint64_t side = std::min(image.width, image.height);
  const auto scaled = [&](uint32_t from) {
    const uint64_t to = uint64_t{from} * fit.shortest / side;
    if (to > kMostImageSide) {
      throw Error(ExitCode::kInvalid, fmt::format("{}: {}x{} pixels are too long and narrow; cut the image first",
                                                  printable(path), image.width, image.height));
    }
    return static_cast<uint32_t>(to);
  };
  return {scaled(image.width), scaled(image.height)};
}

/// Converts three channels to one: ITU-R 601's luma, as Pillow computes it.
std::vector<uint8_t> grey(const std::vector<uint8_t>& rgb) {
  std::vector<uint8_t> out(rgb.size() / 3);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] =
        static_cast<uint8_t>((rgb[3 * i] * 19595U + rgb[3 * i + 1] * 38470U + rgb[3 * i + 2] * 7471U + 0x8000U) >> 16);
  }
  return out;
}

/// Returns the rows of a sound, padded with silence.
std::vector<uint8_t> sound_rows(const std::vector<int16_t>& samples, uint32_t rows) {
  std::vector<uint8_t> out(size_t{rows} * kSoundBands);
  const auto sound = std::make_unique<SoundRows>();
  sound->begin(out.data(), rows);
  sound->add(samples.data(), static_cast<uint32_t>(samples.size()));
  sound->finish();
  return out;
}

/// Returns a gray image as rows of features: each row holds the channels of one of the model's pixels, from left to
/// right.
std::vector<uint8_t> rows_of(const std::string& path, const Pixels& image, const ImageForm& form) {
  if (image.width != form.channels || image.height != form.width * form.height) {
    throw Error(
        ExitCode::kInvalid,
        fmt::format("{}: {}x{} pixels, but the model takes {} rows of {} numbers: a grey image as wide as a row",
                    printable(path), image.width, image.height, form.width * form.height, form.channels));
  }
  return grey(image.rgb);
}

}  // namespace

bool takes_images(const Model& model) {
  ImageForm form;
  return image_form(model, &form) == Status::kOk;
}

std::vector<int16_t> samples_of(const Model& model, const std::string& path) {
  ImageForm form;
  image_form(model, &form);
  std::vector<int16_t> samples = read_sound_file(path);
  samples.resize(std::min<size_t>(samples.size(), kSoundWindow + size_t{form.width - 1} * kSoundStep));
  return samples;
}

ImageBatch::ImageBatch(const Model& model) : model_(model) { image_form(model, &form_); }

void ImageBatch::clear() {
  features_.clear();
  offsets_ = {0};
}

void ImageBatch::add_pixels(const std::vector<uint8_t>& pixels) {
  const size_t begin = features_.size();
  features_.resize(begin + size_t{form_.tokens} * form_.columns);
  image_features(model_, pixels.data(), 0, features_.data() + begin);
  offsets_.push_back(offsets_.back() + form_.tokens);
}

std::vector<uint8_t> ImageBatch::pixels_of(const std::string& path) const {
  if (takes_sound(model_) && is_sound_file(path)) return sound_rows(samples_of(model_, path), form_.width);
  Pixels image = read_image_file(path);
  if (form_.channels != 1 && form_.channels != 3) return rows_of(path, image, form_);
  const ImageFit fit = image_fit(model_);
  const FittedSides sides = sides_of(image, fit, path);
  if (uint64_t{form_.width} * std::max(form_.height, image.height) > kMostImagePixels) {
    throw Error(ExitCode::kInvalid,
                fmt::format("{}: {} rows of {} pixels, which the model wants, are more than are made; "
                            "make the image smaller first",
                            printable(path), std::max(form_.height, image.height), form_.width));
  }
  image = resized_middle(image, sides.width, sides.height, fit.filter, form_.width, form_.height);
  return form_.channels == 1 ? grey(image.rgb) : image.rgb;
}

void ImageBatch::add(const std::string& path) { add_pixels(pixels_of(path)); }

void ImageBatch::add_made(uint32_t number) {
  uint64_t state = 0x9E3779B97F4A7C15U * (number + 1);
  const auto random = [&](uint32_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<uint32_t>(state >> 33) % below;
  };
  const uint32_t width = form_.width, height = form_.height, channels = form_.channels;
  std::vector<uint8_t> pixels(size_t{width} * height * channels);
  for (uint32_t c = 0; c < channels; ++c) {
    const uint32_t left = random(256), right = random(256), below = random(256);
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; ++x) {
        const uint32_t shade = (left * (width - x) + right * x) / width / 2 + below * y / height / 2;
        pixels[(size_t{y} * width + x) * channels + c] = static_cast<uint8_t>(shade);
      }
    }
  }
  for (uint32_t shape = 0; shape < 6; ++shape) {
    const uint32_t x0 = random(width), y0 = random(height), radius = 1 + random(1 + std::min(width, height) / 3);
    const bool round = random(2) == 0;
    std::vector<uint8_t> colour(channels);
    for (uint8_t& value : colour) value = static_cast<uint8_t>(random(256));
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; ++x) {
        const int64_t dx = int64_t{x} - x0, dy = int64_t{y} - y0, r = radius;
        const bool inside = round ? dx * dx + dy * dy <= r * r : std::max(dx * dx, dy * dy) <= r * r;
        for (uint32_t c = 0; inside && c < channels; ++c) {
          pixels[(size_t{y} * width + x) * channels + c] = colour[c];
        }
      }
    }
  }
  add_pixels(pixels);
}

std::vector<Sample> made_images(const Model& model, uint32_t count) {
  std::vector<Sample> samples;
  ImageBatch image(model);
  for (uint32_t i = 0; i < count; ++i) {
    image.clear();
    image.add_made(i);
    Sample sample;
    sample.text = fmt::format("made-up image {}", i);
    sample.ids.assign(image.form().tokens, 0);
    sample.features = image.features();
    samples.push_back(std::move(sample));
  }
  return samples;
}

Batch ImageBatch::view() {
  Batch batch;
  batch.features = features_.data();
  batch.offsets = offsets_.data();
  batch.sequences = static_cast<uint32_t>(offsets_.size() - 1);
  batch.tokens = offsets_.back();
  return batch;
}

}  // namespace bantam::convert
