// The image of a model for a device: the file for its flash, the lengths of its texts, and the output.
#ifndef BANTAM_CONVERTER_FIRMWARE_IMAGE_H_
#define BANTAM_CONVERTER_FIRMWARE_IMAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam/session.h"
#include "firmware/memory.h"
#include "firmware/target.h"
#include "firmware/tree.h"
#include "pack/build.h"
#include "pack/helium.h"

namespace bantam::firmware {

/// The options of an image: the file, the board or its parts, and the output format.
struct ImageRequest {
  std::string model;
  std::string board;  // a name or a folder
  std::string core;   // instead of a board
  std::string flash, ram, hot, model_flash;
  std::string output;
  std::string format = "project";
  uint32_t max_tokens = 0;  // 0: as many as fit
  uint32_t block_rows = kBlockRows;
  bool keep_sparse = false;
  bool force = false;
  std::string version;  // version of the program that writes it
};

struct Image {
  Target target;
  convert::FileBytes file;
  convert::HeliumFile layout;  // without its bytes
  Model model;
  SessionOptions options;
  uint32_t wanted_tokens = 0;
  uint64_t source_bytes = 0;
  Written written;
  std::vector<std::string> outputs;
};

/// Chooses the board and the number of tokens. Throws Error if the model does not fit, or if an option cannot be
/// parsed.
Image make_image(const ImageRequest& request);

/// Writes the requested output and records in `image` what was written. Throws Error if the output is an input or
/// cannot be written.
void write_image(const ImageRequest& request, Image* image);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_IMAGE_H_
