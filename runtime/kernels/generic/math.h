// exp, erf, tanh, sigmoid and the activations, on all lanes. Coefficients:
// runtime/kernels/scripts/derive_coefficients.py; tests/kernels/math_test.cpp measures the errors stated here over a
// dense sweep against libm in double. A NaN stays NaN; results for infinities are stated.
#ifndef BANTAM_KERNELS_GENERIC_MATH_H_
#define BANTAM_KERNELS_GENERIC_MATH_H_

#include "kernels/gelu_table.h"
#include "kernels/generic/lanes.h"
#if defined(BANTAM_KERNEL_ONE_LANE)
#include "kernels/generic/passes.h"
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// c[0] + c[1] x + ..., by Horner's scheme with fma.
template <uint32_t kCount>
BANTAM_INLINE F32 polynomial(F32 x, const float (&c)[kCount]) {
  F32 p = splat(c[kCount - 1]);
  BANTAM_UNROLL_ALWAYS
  for (uint32_t i = 1; i < kCount; ++i) p = fma(p, x, splat(c[kCount - 1 - i]));
  return p;
}

/// e^x for x <= 88: relative error <= 2e-7; exactly 0 below -87, -infinity included.
BANTAM_INLINE F32 exp_below_88(F32 x) {
  constexpr float kPolynomial[] = {1.0f, 1.0f, 0.499992311f, 0.166671127f, 0.0418901891f, 0.00831268355f};
  // n = round(x / ln 2), plus the exponent's bias, is in the low bits of `shifted`.
  const F32 magic = splat(12582912.0f + 127.0f);
  const F32 shifted = fma(x, splat(1.44269504f), magic);
  const F32 n = shifted - magic;
  // ln 2 in two parts: 0x1.63p-1 and the rest.
  const F32 r = fma(n, splat(2.12194440e-4f), fma(n, splat(-0.693359375f), x));
  const F32 y = polynomial(r, kPolynomial) * low_bits_to_power(bits(shifted));
  return select(less(x, splat(-87.0f)), splat(0.0f), y);
}

/// e^x: relative error <= 2e-7 on [-87, 88]; 0 below; infinite above 88.4.
BANTAM_INLINE F32 exp(F32 x) { return exp_below_88(min(splat(89.0f), x)); }

/// 2^x for x <= 1: relative error <= 3e-6; exactly 0 below -127. For probabilities that are rounded to 8 bits.
BANTAM_INLINE F32 exp2_of_score(F32 x) {
  constexpr float kPolynomial[] = {1.0f, 0.693124175f, 0.240240991f, 0.0559065863f, 0.00958286971f};
  const F32 magic = splat(12582912.0f + 127.0f);
  const F32 shifted = x + magic;
  const F32 fraction = x - (shifted - magic);
  // As integers: numbers below 12582912 mean 2^-127 or less and become 0.
  const I32 exponent = max(bits(shifted), splat(int32_t{0x4b400000}));
  return polynomial(fraction, kPolynomial) * low_bits_to_power(exponent);
}

/// 1 / (1 + e^-x): relative error <= 4e-7 for x > -87; 0 below.
BANTAM_INLINE F32 sigmoid(F32 x) {
  const F32 one = splat(1.0f);
  const F32 e = exp_below_88(splat(0.0f) - magnitude(x));
  return select(less(x, splat(0.0f)), e, one) / (one + e);
}

/// Relative error <= 4e-7 everywhere; +-1 at the infinities.
BANTAM_INLINE F32 tanh(F32 x) {
  constexpr float kPolynomial[] = {-0.333332807f, 0.133314058f, -0.0537365153f, 0.0206281673f, -0.00569229666f};
  const F32 square = x * x;
  const F32 near_zero = fma(x * square, polynomial(square, kPolynomial), x);
  const F32 a = magnitude(x);
  const F32 e = exp_below_88(splat(-2.0f) * a);
  const F32 far = (splat(1.0f) - e) / (splat(1.0f) + e);
  const F32 with_sign = select(less(x, splat(0.0f)), splat(0.0f) - far, far);
  return select(less(a, splat(0.625f)), near_zero, with_sign);
}

/// The columns of kGeluTable that the low four bits of `interval` select.
#if defined(BANTAM_KERNEL_ONE_LANE)
class GeluCoefficients {
 public:
  BANTAM_TINY explicit GeluCoefficients(I32 interval) : column_(kGeluTable[0] + (interval & 15)) {
    __asm__("" : "+r"(column_));  // keeps one address, where compilers would compute five
  }
  BANTAM_TINY F32 of(int power) const { return column_[16 * power]; }

 private:
  const float* column_;
};
#else
class GeluCoefficients {
 public:
  BANTAM_TINY explicit GeluCoefficients(I32 interval) : interval_(interval) {}
  BANTAM_TINY F32 of(int power) const { return lookup(load_table(kGeluTable[power]), interval_); }

 private:
  I32 interval_;
};
#endif

/// x / 2 * (1 + erf(x / sqrt 2)): absolute error <= 4e-7 for every x; exactly x above 5.35, 0 below -5.35.
BANTAM_INLINE F32 gelu(F32 x) {
  // max(x, 0) - g(|x|) with g(t) = t / 2 * erfc(t / sqrt 2), a polynomial of degree 4 on each of 15 intervals of width
  // 1 / kGeluPerUnit whose centers are the multiples; on the sixteenth, where g < 2.4e-7, it is zero. Row i of
  // kGeluTable: coefficients of t^i. This takes a third of the multiplications of a single polynomial with this error.
  constexpr float kLast = 5.53448296f;
  const F32 t = min(magnitude(x), splat(kLast));
  // round(t * kGeluPerUnit) is in the low bits.
  const I32 interval = bits(fma(t, splat(kGeluPerUnit), splat(12582912.0f)));
  const GeluCoefficients coefficients(interval);
  F32 g = coefficients.of(4);
  BANTAM_UNROLL_ALWAYS
  for (int i = 3; i >= 0; --i) g = fma(g, t, coefficients.of(i));
  return max(splat(0.0f), x) - g;
}

/// x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3), computed as x * sigmoid(2 u): absolute error <= 1e-6 *
/// max(1, |x|).
BANTAM_INLINE F32 gelu_tanh(F32 x) {
  const F32 inner = fma(splat(0.0713548163f), x * x, splat(1.59576912f));
  return x * sigmoid(x * inner);
}

/// ln(1 + e^x): relative error <= 4e-7 for x > -87; 0 below. As max(x, 0) + ln(1 + t), t = e^-|x|, where ln(1 + t) is
/// 2 atanh(t / (2 + t)), whose series is taken up to the power 15.
BANTAM_INLINE F32 softplus(F32 x) {
  constexpr float kSeries[] = {2.0f,         0.666666667f, 0.4f,         0.285714286f,
                               0.222222222f, 0.181818182f, 0.153846154f, 0.133333333f};
  const F32 t = exp_below_88(splat(0.0f) - magnitude(x));
  const F32 s = t / (splat(2.0f) + t);
  return fma(s, polynomial(s * s, kSeries), max(splat(0.0f), x));
}

BANTAM_INLINE F32 relu(F32 x) { return max(splat(0.0f), x); }

/// f(x) with the activation as a compile-time constant.
template <Activation kActivation>
BANTAM_INLINE F32 activate(F32 x) {
#define BANTAM_ACTIVATION(kind, name, formula, names) \
  if constexpr (kActivation == Activation::k##name) return formula;
#include "kernels/activations.inc"
#undef BANTAM_ACTIVATION
  return x;
}

/// Calls f with the activation as an integral constant; kNone replaces one that is not linked.
template <Activation kActivation, class F>
BANTAM_INLINE auto if_linked(const F& f) {
  constexpr bool kLinked = linked::activation(static_cast<uint32_t>(kActivation));
  return f.template operator() < kLinked ? kActivation : Activation::kNone > ();
}

/// Calls f with the activation as an integral constant. The only place that lists all of them.
template <class F>
BANTAM_INLINE auto with_activation(Activation activation, const F& f) {
  switch (activation) {
#define BANTAM_ACTIVATION(kind, name, formula, names) \
  case Activation::k##name:                           \
    return if_linked<Activation::k##name>(f);
#include "kernels/activations.inc"
#undef BANTAM_ACTIVATION
    case Activation::kNone:
      break;
  }
  return f.template operator()<Activation::kNone>();
}

#if defined(BANTAM_KERNEL_ONE_LANE)
struct ActivateRow {
  float* x;
  uint32_t n;
  template <Activation kActivation>
  BANTAM_INLINE void operator()() const {
#if defined(BANTAM_KERNEL_OWN_PASSES)
    if constexpr (kActivation == Activation::kGelu) return gelu_row(x, n);
#endif
    for (uint32_t i = 0; kActivation != Activation::kNone && i < n; ++i) x[i] = activate<kActivation>(x[i]);
  }
};

/// y[r][0, columns) = activation(y), in place. Raises the maximum of row_maximum[r], if given, to the largest
/// |y[r][n]|, as bits. Returns false if some result is not finite.
[[maybe_unused]] static BANTAM_NOINLINE bool activate_block(Activation activation, float* y, size_t stride,
                                                            uint32_t rows, uint32_t columns, int32_t* row_maximum) {
  int32_t worst = 0;
  for (uint32_t r = 0; r < rows; ++r) {
    float* row = y + r * stride;
    with_activation(activation, ActivateRow{row, columns});
    const int32_t m = magnitude_of(row, columns);
    worst = max(worst, m);
    if (row_maximum != nullptr) row_maximum[r * 16] = max(row_maximum[r * 16], m);
  }
  return worst < 0x7f800000;
}

#else

/// y[r][0, columns) = activation(y), in place; columns is a multiple of 16. Not inlined, because callers use all
/// registers. Raises the maximum of row_maximum[r], if given, to the largest |y[r][n]|, as bits.
struct ActivateBlock {
  float* y;
  size_t stride;
  uint32_t rows, columns;
  int32_t* row_maximum;
  template <Activation kActivation>
  BANTAM_INLINE bool operator()() const {
    I32 worst = splat(int32_t{0});
    for (uint32_t r = 0; r < rows; ++r) {
      I32 worst_of_row = splat(int32_t{0});
      float* row = y + r * stride;
      for (uint32_t i = 0; i < columns; i += kLanes) {
        const F32 v = activate<kActivation>(load(row + i));
        worst_of_row = max(worst_of_row, magnitude_bits(v));
        if constexpr (kActivation != Activation::kNone) store(row + i, v);
      }
      worst = max(worst, worst_of_row);
      if (row_maximum != nullptr) store(row_maximum + r * 16, max(load(row_maximum + r * 16), worst_of_row));
    }
    return largest(worst) < 0x7f800000;
  }
};

/// Returns false if some result is not finite.
[[maybe_unused]] static BANTAM_NOINLINE bool activate_block(Activation activation, float* y, size_t stride,
                                                            uint32_t rows, uint32_t columns, int32_t* row_maximum) {
  return with_activation(activation, ActivateBlock{y, stride, rows, columns, row_maximum});
}
#endif

struct ActivateVector {
  F32 x;
  template <Activation kActivation>
  BANTAM_INLINE F32 operator()() const {
    return activate<kActivation>(x);
  }
};
/// Activates one vector; the activation is known only at run time.
[[maybe_unused]] static BANTAM_NOINLINE F32 activate_vector(Activation activation, F32 x) {
  return with_activation(activation, ActivateVector{x});
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_MATH_H_
