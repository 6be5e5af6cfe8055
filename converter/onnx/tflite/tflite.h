// Import of TensorFlow Lite (LiteRT) files: translates their operators to nodes that the ONNX importer lowers, and
// takes labels and vocabulary from the archive at the end of the model, or from files beside it.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_

#include <string>
#include <string_view>

#include "onnx/model.h"

namespace bantam::convert {

/// Returns the graph in a file's bytes, which must outlive it. Throws Error (kInvalid, kUnsupported) that names the
/// file, the tensor and the operator.
onnx::Model read_tflite(std::string_view bytes, const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_
