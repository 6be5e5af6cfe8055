// The result: a Hugging Face directory like the student's, with the trained weights.
#ifndef BANTAM_CONVERTER_TRAIN_DIRECTORY_H_
#define BANTAM_CONVERTER_TRAIN_DIRECTORY_H_

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "train/parameters.h"

namespace bantam::train {

/// Writes `text` to `file`, completely or not at all. Throws Error (I/O, out of space).
void write_text(const std::filesystem::path& file, const std::string& text);

/// Writes config.json, the tokenizer's files and, last, model.safetensors, each completely or not at all. `dtype`: see
/// source_tensors. `output` must exist. Throws Error.
void write_directory(const std::filesystem::path& student, const std::filesystem::path& output,
                     const Parameters& parameters, const std::vector<at::Tensor>& values, const std::string& dtype);

}  // namespace bantam::train

#endif  // BANTAM_CONVERTER_TRAIN_DIRECTORY_H_
