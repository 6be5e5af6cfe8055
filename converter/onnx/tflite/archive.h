// Files that belong to a TensorFlow Lite model: in the archive behind it, or beside it.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_ARCHIVE_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_ARCHIVE_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "onnx/tflite/metadata.h"
#include "source/model_source.h"

namespace bantam::convert::tflite {

/// Labels and the tokenizer, as far as `source` has none yet: from files in its directory, then from the archive at the end of `bytes`, those of
/// the file at `path`. Throws Error where they are damaged or too large.
void add_files(const std::filesystem::path& path, std::string_view bytes, const Metadata& metadata,
               ModelSource& source);

/// tokenizer.json of a list of words, one a line, each with its id behind a blank or by its line; words are what stands between matches
/// of `pattern`. Null: lines are no such words. `name`: for messages.
Json word_tokenizer(const std::string& list, const std::string& pattern, const std::string& name);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_ARCHIVE_H_
