// Textbook versions of the kernels in double precision.
#ifndef BANTAM_TESTS_KERNELS_NAIVE_H_
#define BANTAM_TESTS_KERNELS_NAIVE_H_

#include <cmath>
#include <vector>

#include "kernels/kernels.h"

namespace bantam::kernels::test {

inline double naive_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

inline double naive_activation(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kGelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return naive_sigmoid(x);
    case Activation::kSilu:
      return x * naive_sigmoid(x);
    case Activation::kQuickGelu:
      return x * naive_sigmoid(1.702 * x);
    case Activation::kExp:
      return std::exp(x);
    case Activation::kReluSquared:
      return x > 0 ? x * x : 0;
    case Activation::kSoftplus:
      return std::log1p(std::exp(-std::fabs(x))) + std::fmax(x, 0.0);
  }
  return NAN;
}

/// Returns the possible error of an activation of x if x has an error of `error`.
inline double activation_tolerance(Activation activation, double x, double error) {
  const double y = std::fabs(naive_activation(activation, x));
  switch (activation) {
    case Activation::kExp:
      return y * (error + 1e-6) + 1e-37;
    case Activation::kReluSquared:
      return 2 * std::fabs(x) * error + error * error + y * 1e-6;
    default:
      return 1.2 * error + 1e-6 * std::fmax(1.0, std::fabs(x));
  }
}

/// Replaces scores by their softmax.
inline void naive_softmax(std::vector<double>& x) {
  double best = x[0];
  for (double v : x) best = std::fmax(best, v);
  double total = 0;
  for (double& v : x) total += v = std::exp(v - best);
  for (double& v : x) v /= total;
}

inline bool naive_visible(const Attention& a, uint32_t query, uint32_t key) {
  const bool causal = a.mask == Mask::kCausal || a.mask == Mask::kCausalWindow;
  const bool window = a.mask == Mask::kWindow || a.mask == Mask::kCausalWindow;
  if (causal && key > query) return false;
  const uint32_t distance = key > query ? key - query : query - key;
  return !(window && distance > a.window);
}

}  // namespace bantam::kernels::test

#endif  // BANTAM_TESTS_KERNELS_NAIVE_H_
