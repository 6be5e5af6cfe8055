// Import of TensorFlow Lite (LiteRT) files: their operators as the nodes that the ONNX importer lowers, labels and vocabulary from the
// archive behind the model, or from files beside it.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_

#include <string>
#include <string_view>

#include "onnx/model.h"

namespace bantam::convert {

/// A file's bytes as a graph. `bytes` outlive it. Throws Error (kInvalid, kUnsupported) naming file, tensor and operator.
onnx::Model read_tflite(std::string_view bytes, const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_
