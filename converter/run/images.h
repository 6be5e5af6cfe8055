// Converts image and sound files to the features that models read.
#ifndef BANTAM_CONVERTER_RUN_IMAGES_H_
#define BANTAM_CONVERTER_RUN_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/image.h"
#include "bantam/session.h"
#include "run/runner.h"

namespace bantam::convert {

/// Returns true if the texts of the model are paths of images.
bool takes_images(const Model& model);

/// Returns the samples of a WAV file, at most as many as a sound model (bantam/sound.h) reads. Throws Error.
std::vector<int16_t> samples_of(const Model& model, const std::string& path);

/// The features of several images as one batch, one sequence per image. The model must read images.
class ImageBatch {
 public:
  explicit ImageBatch(const Model& model);

  void clear();
  /// Returns the pixels of an image file in the model's form: width * height * channels bytes. For a sound model,
  /// returns the rows of a WAV file, padded with silence. If a pixel has neither one nor three channels, the file is a
  /// gray image whose rows are the pixels. Throws as add() does.
  std::vector<uint8_t> pixels_of(const std::string& path) const;
  /// Adds the image in a file, fitted as the model's file states. Throws Error as read_image_file and read_sound_file
  /// do; kInvalid if a gray image of rows does not have the model's size.
  void add(const std::string& path);
  /// Adds a synthetic image: smooth shades with shapes on them, different for each `number`.
  void add_made(uint32_t number);

  /// The result points into this object and is valid until the next add() or clear().
  Batch view();
  const std::vector<float>& features() const { return features_; }
  const ImageForm& form() const { return form_; }

 private:
  void add_pixels(const std::vector<uint8_t>& pixels);

  const Model& model_;
  ImageForm form_;
  std::vector<float> features_;
  std::vector<uint32_t> offsets_ = {0};
};

/// Makes synthetic images as samples for comparing files.
std::vector<Sample> made_images(const Model& model, uint32_t count);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_IMAGES_H_
