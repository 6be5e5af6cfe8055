// The fuzzer's bytes as a TensorFlow Lite file: the importer makes a graph of it or throws its own Error.
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "onnx/onnx_import.h"
#include "onnx/tflite/archive.h"
#include "onnx/tflite/tflite.h"
#include "tests/converter/tflite_import.h"
#include "tests/fuzz/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bantam::convert::Error;
  using bantam::convert::import_alone;
  const bantam::fuzz::Limits limits(size);
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    import_alone(bytes, "fuzz.tflite");
  } catch (const Error&) {
    // Other tests check its message.
  }
  try {
    bantam::convert::tflite::word_tokenizer(bytes, "", "vocab.txt");
  } catch (const Error&) {
  }
  return 0;
}
