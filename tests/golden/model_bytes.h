// Golden models as files, for tests that change their bytes.
#ifndef BANTAM_TESTS_GOLDEN_MODEL_BYTES_H_
#define BANTAM_TESTS_GOLDEN_MODEL_BYTES_H_

#include <cstdint>
#include <vector>

#include "golden/decoder.h"

namespace bantam::golden {

inline std::vector<uint8_t> model_bytes(const char* name, fb::DType weights) {
  convert::TypeOptions types;
  types.weights = weights;
  const convert::FileBytes bytes = convert::build(convert::import_hugging_face(model_directory(name)), types);
  return {bytes.data(), bytes.data() + bytes.size()};
}

inline Status open_bytes(const std::vector<uint8_t>& file, Fault* fault) {
  const testing::FileBytes aligned(file);
  Model model;
  return Model::open(aligned.data(), aligned.size(), &model, fault);
}

}  // namespace bantam::golden

#endif  // BANTAM_TESTS_GOLDEN_MODEL_BYTES_H_
