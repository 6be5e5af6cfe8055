// Correctly rounded f32 operations for machines without the instruction: fma and f16 -> f32.
#ifndef BANTAM_KERNELS_GENERIC_SOFT_FLOAT_H_
#define BANTAM_KERNELS_GENERIC_SOFT_FLOAT_H_

#include "kernels/generic/config.h"

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// a * b + c with one rounding to nearest even, subnormals and overflow included. The product of two floats is exact
/// in double; the sum is rounded to odd there (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums",
/// 2008), after which rounding to float cannot round twice: 53 >= 24 + 2 bits.
inline float soft_fma(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double d = static_cast<double>(c);
  const double s = p + d;
  // Error of the sum, exact (Knuth's two-sum); NaN when something is not finite, and then s is the answer.
  const double t = s - p;
  const double error = (p - (s - t)) + (d - t);
  uint64_t bits;
  memcpy(&bits, &s, sizeof bits);
  if ((error > 0 || error < 0) && (bits & 1) == 0) {
    // The true sum lies between s, which is even, and its neighbour in the direction of the error, which is odd.
    bits += (error > 0) == (s > 0) ? 1 : ~uint64_t{0};
  }
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return static_cast<float>(odd);
}

/// IEEE half to float, exact; subnormals, infinities and NaN (made quiet, payload kept) included.
inline float soft_f16(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u;
  uint32_t mantissa = half & 0x3ffu;
  uint32_t bits;
  if (exponent == 31) {
    bits = sign | 0x7f800000u | (mantissa << 13) | (mantissa != 0 ? 0x400000u : 0u);
  } else if (exponent != 0) {
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  } else if (mantissa == 0) {
    bits = sign;
  } else {
    uint32_t e = 113;
    while ((mantissa & 0x400u) == 0) {
      mantissa <<= 1;
      --e;
    }
    bits = sign | (e << 23) | ((mantissa & 0x3ffu) << 13);
  }
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE

#endif  // BANTAM_KERNELS_GENERIC_SOFT_FLOAT_H_
