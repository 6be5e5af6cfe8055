// Runs the whole importer on the bytes of a single TensorFlow Lite file, for tests and fuzzers.
#ifndef BANTAM_TESTS_CONVERTER_TFLITE_IMPORT_H_
#define BANTAM_TESTS_CONVERTER_TFLITE_IMPORT_H_

#include <memory>
#include <string>

#include "onnx/onnx_import.h"
#include "onnx/tflite/tflite.h"

namespace bantam::convert {

/// Accepts models that read token ids. Throws what the importer throws, with `name` as the file's name.
inline Graph import_alone(const std::string& bytes, const std::string& name) {
  ModelSource source;
  source.config = Json::object();
  source.onnx = std::make_shared<const onnx::Model>(read_tflite(bytes, name));
  ImportOptions options;
  options.ids_only = true;
  return import_onnx(source, options);
}

}  // namespace bantam::convert

#endif  // BANTAM_TESTS_CONVERTER_TFLITE_IMPORT_H_
