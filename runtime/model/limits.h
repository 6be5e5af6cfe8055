// Most of what a model's graph may have; the verifier refuses more, and who writes files stops before.
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
