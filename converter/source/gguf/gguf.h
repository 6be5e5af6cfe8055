// A GGUF file as a source of the family that its architecture stands for.
#ifndef BANTAM_CONVERTER_SOURCE_GGUF_GGUF_H_
#define BANTAM_CONVERTER_SOURCE_GGUF_GGUF_H_

#include <filesystem>

#include "source/model_source.h"

namespace bantam::convert {

/// Whether `path` is a file that ends in ".gguf", or begins as one does.
bool is_gguf(const std::filesystem::path& path);

/// Everything that a directory would say: settings, tensors by transformers' names, the tokenizer, the card. Integers in blocks become the
/// values that they stand for, with a note. Throws Error with all that is wrong or not supported, as open_model_source does.
ModelSource open_gguf(const std::filesystem::path& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_GGUF_GGUF_H_
