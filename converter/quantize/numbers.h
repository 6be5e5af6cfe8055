// Integer constants of static quantization: factors as a multiplier of 16 bits and a shift, and tables of an activation.
#ifndef BANTAM_CONVERTER_QUANTIZE_NUMBERS_H_
#define BANTAM_CONVERTER_QUANTIZE_NUMBERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// factor[i] = multiplier[i] / 2^shift, as nearly as the largest of them, in 16 bits, lets a common shift be.
struct Factors {
  std::vector<int32_t> multiplier;
  uint32_t shift = 0;  // 0..31
};
/// Throws Error (unsupported), naming `what`, when a factor does not fit 16 bits without a shift.
Factors to_factors(const std::vector<double>& factors, const std::string& what);

/// To nearest, halves away from 0, clamped to [-limit, limit].
int64_t round_to(double value, double limit);

/// The activation at `x`, as bantam's reference kernels compute it.
std::vector<float> activate(fb::ActivationKind kind, const std::vector<float>& x);

/// A function of one number between steps: input v in [-128, 127] means low + (v + 128) * step, output q means
/// (q - zero) * scale.
struct FunctionTable {
  double low = 0;
  double step = 1;
  double scale = 1;
  int32_t zero = 0;
  std::vector<int32_t> values;  // [256], in [-127, 127]
};
/// For inputs that were seen in [low, high]. Where the function hardly changes any more (GELU below -4, tanh beyond 4) the
/// table ends, so that its steps are small where they matter; its output takes all of [-127, 127], with zero 0 if
/// `symmetric`.
FunctionTable make_table(fb::ActivationKind kind, float low, float high, bool symmetric);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_NUMBERS_H_
