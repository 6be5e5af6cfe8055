// The importer's message about a changed TensorFlow Lite model.
#ifndef BANTAM_TESTS_CONVERTER_TFLITE_SAID_H_
#define BANTAM_TESTS_CONVERTER_TFLITE_SAID_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "tests/converter/tflite_bytes.h"
#include "tests/converter/tflite_import.h"

namespace bantam::convert::tflite_bytes {

/// Returns "" if the model can be read. A refusal must have the exit code `code`.
inline std::string said(Model model, const std::function<void(Model&)>& change, ExitCode code) {
  change(model);
  try {
    import_alone(model.write(), "m.tflite");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace bantam::convert::tflite_bytes

#endif  // BANTAM_TESTS_CONVERTER_TFLITE_SAID_H_
