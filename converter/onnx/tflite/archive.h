// Files that belong to a TensorFlow Lite model: in the archive at its end, or beside it.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_ARCHIVE_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_ARCHIVE_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "onnx/tflite/metadata.h"
#include "source/model_source.h"

namespace bantam::convert::tflite {

/// Adds labels and the tokenizer that `source` lacks: from files in its directory, then from the archive at the end of
/// `bytes`, the content of the file at `path`. Throws Error if these files are damaged or too large.
void add_files(const std::filesystem::path& path, std::string_view bytes, const Metadata& metadata,
               ModelSource& source);

/// Builds tokenizer.json from a word list, one word per line, whose id follows after a space or is the line number.
/// Text between matches of `pattern` forms words. Returns null if the lines are not such words. `name`: for messages.
Json word_tokenizer(const std::string& list, const std::string& pattern, const std::string& name);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_ARCHIVE_H_
