// Upper limits of a model's graph; the verifier refuses files that exceed them, and the converter stops before it
// writes one.
#ifndef BANTAM_MODEL_LIMITS_H_
#define BANTAM_MODEL_LIMITS_H_

#include <stdint.h>

namespace bantam {

constexpr uint32_t kMaxTensors = 65536;
constexpr uint32_t kMaxOps = 65536;
constexpr uint32_t kMaxInputs = 16;
constexpr uint32_t kMaxOutputs = 256;

}  // namespace bantam

#endif  // BANTAM_MODEL_LIMITS_H_
