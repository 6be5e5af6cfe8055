// exp, erf, tanh, sigmoid and the activations, on 16 lanes. Coefficients: runtime/kernels/scripts/derive_coefficients.py;
// the errors stated here are measured by tests/kernels/math_test.cpp over a dense sweep against libm in double.
// A NaN stays NaN; what infinities give is stated.
#ifndef BANTAM_KERNELS_GENERIC_MATH_H_
#define BANTAM_KERNELS_GENERIC_MATH_H_

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// c[0] + c[1] x + ..., by Horner with fma.
template <uint32_t kCount>
BANTAM_INLINE F32x16 polynomial(F32x16 x, const float (&c)[kCount]) {
  F32x16 p = splat(c[kCount - 1]);
  BANTAM_UNROLL
  for (uint32_t i = 1; i < kCount; ++i) p = fma(p, x, splat(c[kCount - 1 - i]));
  return p;
}

/// e^x for x <= 88: relative error <= 2e-7; exactly 0 below -87, -infinity included.
BANTAM_INLINE F32x16 exp_below_88(F32x16 x) {
  constexpr float kPolynomial[] = {1.0f, 1.0f, 0.499992311f, 0.166671127f, 0.0418901891f, 0.00831268355f};
  // n = round(x / ln 2) sits, with the exponent's bias, in the low bits of `shifted`.
  const F32x16 magic = splat(12582912.0f + 127.0f);
  const F32x16 shifted = fma(x, splat(1.44269504f), magic);
  const F32x16 n = shifted - magic;
  // ln 2 in two parts: 0x1.63p-1 and the rest.
  const F32x16 r = fma(n, splat(2.12194440e-4f), fma(n, splat(-0.693359375f), x));
  const F32x16 y = polynomial(r, kPolynomial) * low_bits_to_power(shifted);
  return select(less(x, splat(-87.0f)), splat(0.0f), y);
}

/// e^x: relative error <= 2e-7 on [-87, 88]; 0 below; infinite above 88.4.
BANTAM_INLINE F32x16 exp(F32x16 x) { return exp_below_88(min(splat(89.0f), x)); }

/// 1 / (1 + e^-x): relative error <= 4e-7 where x > -87; 0 below.
BANTAM_INLINE F32x16 sigmoid(F32x16 x) {
  const F32x16 one = splat(1.0f);
  const F32x16 e = exp_below_88(splat(0.0f) - magnitude(x));
  return select(less(x, splat(0.0f)), e, one) / (one + e);
}

/// Relative error <= 4e-7 everywhere; +-1 at the infinities.
BANTAM_INLINE F32x16 tanh(F32x16 x) {
  constexpr float kPolynomial[] = {-0.333332807f, 0.133314058f, -0.0537365153f, 0.0206281673f, -0.00569229666f};
  const F32x16 square = x * x;
  const F32x16 near_zero = fma(x * square, polynomial(square, kPolynomial), x);
  const F32x16 a = magnitude(x);
  const F32x16 e = exp_below_88(splat(-2.0f) * a);
  const F32x16 far = (splat(1.0f) - e) / (splat(1.0f) + e);
  const F32x16 with_sign = select(less(x, splat(0.0f)), splat(0.0f) - far, far);
  return select(less(a, splat(0.625f)), near_zero, with_sign);
}

/// erf(x / sqrt 2): absolute error <= 5e-7; +-1 exactly for |x| > 5.2, infinities included.
BANTAM_INLINE F32x16 erf_of_scaled(F32x16 x) {
  constexpr float kLimit = 27.0f;
  constexpr float kPolynomial[] = {0.272100627f,   -0.135583013f,   0.100107558f,   -0.0798833445f,  0.0639659688f,
                                   -0.0494034551f, 0.0358535387f,   -0.0249414369f, 0.0170376468f,   -0.00952602085f,
                                   0.00359318568f, -0.00242926762f, 0.00250839978f, -0.000950360904f};
  // x * P(s), s = 2 x^2 / kLimit - 1. Beyond the limit s stays and x grows: the product passes 1 and is cut.
  const F32x16 s = fma(min(splat(kLimit), x * x), splat(2.0f / kLimit), splat(-1.0f));
  const F32x16 e = x * polynomial(s, kPolynomial);
  return min(splat(1.0f), max(splat(-1.0f), e));
}

/// x / 2 * (1 + erf(x / sqrt 2)): absolute error <= 3e-7 * max(1, |x|); exactly x above 5.2, 0 below -5.2.
BANTAM_INLINE F32x16 gelu(F32x16 x) {
  const F32x16 half = splat(0.5f) * x;
  return fma(half, erf_of_scaled(x), half);
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as x * sigmoid of twice that: absolute error <= 1e-6 * max(1, |x|).
BANTAM_INLINE F32x16 gelu_tanh(F32x16 x) {
  const F32x16 inner = fma(splat(0.0713548163f), x * x, splat(1.59576912f));
  return x * sigmoid(x * inner);
}

BANTAM_INLINE F32x16 relu(F32x16 x) { return max(splat(0.0f), x); }

/// f(x) with the activation as a compile-time constant.
template <Activation kActivation>
BANTAM_INLINE F32x16 activate(F32x16 x) {
  if constexpr (kActivation == Activation::kRelu) return relu(x);
  if constexpr (kActivation == Activation::kGelu) return gelu(x);
  if constexpr (kActivation == Activation::kGeluTanh) return gelu_tanh(x);
  if constexpr (kActivation == Activation::kTanh) return tanh(x);
  if constexpr (kActivation == Activation::kSigmoid) return sigmoid(x);
  if constexpr (kActivation == Activation::kSilu) return x * sigmoid(x);
  if constexpr (kActivation == Activation::kQuickGelu) return x * sigmoid(splat(1.702f) * x);
  if constexpr (kActivation == Activation::kExp) return exp(x);
  if constexpr (kActivation == Activation::kReluSquared) return relu(x) * relu(x);
  return x;
}

/// Calls f with the activation as an integral constant: one place that lists them all.
template <class F>
BANTAM_INLINE auto with_activation(Activation activation, const F& f) {
  switch (activation) {
    case Activation::kRelu:
      return f.template operator()<Activation::kRelu>();
    case Activation::kGelu:
      return f.template operator()<Activation::kGelu>();
    case Activation::kGeluTanh:
      return f.template operator()<Activation::kGeluTanh>();
    case Activation::kTanh:
      return f.template operator()<Activation::kTanh>();
    case Activation::kSigmoid:
      return f.template operator()<Activation::kSigmoid>();
    case Activation::kSilu:
      return f.template operator()<Activation::kSilu>();
    case Activation::kQuickGelu:
      return f.template operator()<Activation::kQuickGelu>();
    case Activation::kExp:
      return f.template operator()<Activation::kExp>();
    case Activation::kReluSquared:
      return f.template operator()<Activation::kReluSquared>();
    case Activation::kNone:
      break;
  }
  return f.template operator()<Activation::kNone>();
}

/// y[r][0, 16 * vectors) = activation(y), in place. Not inlined: callers have their registers full.
struct ActivateBlock {
  float* y;
  size_t stride;
  uint32_t rows, vectors;
  template <Activation kActivation>
  BANTAM_INLINE bool operator()() const {
    I32x16 worst = splat(int32_t{0});
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t i = 0; i < vectors; ++i) {
        const F32x16 v = activate<kActivation>(load(y + r * stride + 16 * i));
        worst = max(worst, magnitude_bits(v));
        store(y + r * stride + 16 * i, v);
      }
    }
    return largest(worst) < 0x7f800000;
  }
};

/// False when some result is not finite.
static BANTAM_NOINLINE bool activate_block(Activation activation, float* y, size_t stride, uint32_t rows,
                                           uint32_t vectors) {
  return with_activation(activation, ActivateBlock{y, stride, rows, vectors});
}

struct ActivateVector {
  F32x16 x;
  template <Activation kActivation>
  BANTAM_INLINE F32x16 operator()() const {
    return activate<kActivation>(x);
  }
};
/// One vector with the activation known at run time only.
static BANTAM_NOINLINE F32x16 activate_vector(Activation activation, F32x16 x) {
  return with_activation(activation, ActivateVector{x});
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_MATH_H_
