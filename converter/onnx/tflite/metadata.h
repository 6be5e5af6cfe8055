// Reads the metadata of a TensorFlow Lite file about inputs, labels and words.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_METADATA_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_METADATA_H_

#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert::tflite {

struct Metadata {
  std::string name, description, author, licence;
  std::vector<std::string> inputs;         // in the model's order; "": without a name
  std::string labels, vocabulary, pieces;  // files of the archive; "": there is none
  std::string pattern;                     // what stands between words; "": the vocabulary is one of word pieces
};

/// Throws Error (kInvalid) where the bytes are not such metadata. Returns empty metadata for no bytes.
Metadata read_metadata(std::string_view bytes, const std::string& path);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_METADATA_H_
