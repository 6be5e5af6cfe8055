// Import of TensorFlow Lite (LiteRT) files: their operators as the nodes that the ONNX importer lowers, labels and vocabulary from the
// archive behind the model, or from files beside it.
#ifndef BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_
#define BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "onnx/model.h"
#include "source/model_source.h"

namespace bantam::convert {

/// `named`: a .tflite file, or a directory with one and no other weights; nothing for others. Throws Error.
std::optional<ModelSource> open_tflite(const std::filesystem::path& named);

/// A file's bytes as a graph. `bytes` outlive it. Throws Error (kInvalid, kUnsupported) naming file, tensor and operator.
onnx::Model read_tflite(std::string_view bytes, const std::string& path);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_ONNX_TFLITE_TFLITE_H_
