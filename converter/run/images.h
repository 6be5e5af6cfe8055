// From files of images to what a model of images reads.
#ifndef BANTAM_CONVERTER_RUN_IMAGES_H_
#define BANTAM_CONVERTER_RUN_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/image.h"
#include "bantam/session.h"
#include "run/runner.h"

namespace bantam::convert {

/// Texts of such a model are paths of images.
bool takes_images(const Model& model);

/// The samples of the sound in a WAV file, as many as a model of sounds (bantam/sound.h) reads at most. Throws Error.
std::vector<int16_t> samples_of(const Model& model, const std::string& path);

/// Rows of features of several images, one sequence each, as one batch. The model has images.
class ImageBatch {
 public:
  explicit ImageBatch(const Model& model);

  void clear();
  /// The pixels of the image in a file as the model takes them: width * height * channels bytes. Of a model of sounds a WAV file's rows,
  /// silence behind them where it is short; where pixels have neither one channel nor three, a grey image whose rows are the pixels. Throws as add().
  std::vector<uint8_t> pixels_of(const std::string& path) const;
  /// The image in a file, made to fit as the model's file says. Throws Error as read_image_file and read_sound_file do; kInvalid
  /// where a grey image of rows has another size than the model.
  void add(const std::string& path);
  /// One that is made up: smooth shades with shapes on them, of which each number has others.
  void add_made(uint32_t number);

  /// Points into this object, until the next add() or clear().
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

/// Images that are made up, as samples for comparing files.
std::vector<Sample> made_images(const Model& model, uint32_t count);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_RUN_IMAGES_H_
