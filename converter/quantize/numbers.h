// Integer constants of static quantization: factors as a 16-bit multiplier and a shift, and tables of activation
// functions.
#ifndef BANTAM_CONVERTER_QUANTIZE_NUMBERS_H_
#define BANTAM_CONVERTER_QUANTIZE_NUMBERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bantam_generated.h"

namespace bantam::convert {

/// factor[i] = multiplier[i] / 2^shift, with the largest common shift for which all multipliers fit 16 bits.
struct Factors {
  std::vector<int32_t> multiplier;
  uint32_t shift = 0;  // 0..31
};
/// Throws Error (unsupported) that names `what` if a factor does not fit 16 bits without a shift.
Factors to_factors(const std::vector<double>& factors, const std::string& what);

/// Rounds to nearest, halves away from 0, and clamps to [-limit, limit].
int64_t round_to(double value, double limit);

/// Computes the activation function at `x` with bantam's reference kernels.
std::vector<float> activate(fb::ActivationKind kind, const std::vector<float>& x);

/// A function of one variable by table: input v in [-128, 127] represents low + (v + 128) * step, output q represents
/// (q - zero) * scale.
struct FunctionTable {
  double low = 0;
  double step = 1;
  double scale = 1;
  int32_t zero = 0;
  std::vector<int32_t> values;  // [256], in [-127, 127]
};
/// Builds a table for inputs that were measured in [low, high]. The table excludes ranges where the function is almost
/// constant (GELU below -4, tanh above 4), so that its steps are small where they matter. Its output uses all of [-127,
/// 127], with zero 0 if `symmetric`.
FunctionTable make_table(fb::ActivationKind kind, float low, float high, bool symmetric);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_NUMBERS_H_
