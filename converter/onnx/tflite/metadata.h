// Reads the metadata of a TensorFlow Lite file about inputs, labels and words.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_METADATA_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_METADATA_H_

#include <string>
#include <string_view>
#include <vector>

namespace bantam::convert::tflite {

struct Metadata {
  std::string name, description, author, licence;
  std::vector<std::string> inputs;         // in the model's order; "": no name
  std::string labels, vocabulary, pieces;  // files of the archive; "": none
  std::string pattern;                     // matches the text between words; "": the vocabulary is of word pieces
};

/// Throws Error (kInvalid) if the bytes are not such metadata. Returns empty metadata for no bytes.
Metadata read_metadata(std::string_view bytes, const std::string& path);

}  // namespace bantam::convert::tflite

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_METADATA_H_
