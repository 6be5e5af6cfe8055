// The fuzzer's bytes as an ONNX file: the importer makes a graph of it or throws its own Error.
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "onnx/model.h"
#include "onnx/onnx_import.h"
#include "tests/fuzz/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bantam::convert::Error;
  using bantam::convert::ImportOptions;
  using bantam::convert::Json;
  using bantam::convert::ModelSource;
  const bantam::fuzz::Limits limits(size);
  try {
    ModelSource source;
    source.config = Json::object();
    source.onnx = std::make_shared<const bantam::convert::onnx::Model>(
        bantam::convert::onnx::read_model(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.onnx"));
    ImportOptions options;
    options.ids_only = true;
    import_onnx(source, options);
  } catch (const Error&) {
    // Other tests check its message.
  }
  return 0;
}
