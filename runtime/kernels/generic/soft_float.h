// Correctly rounded f32 operations for machines without the instruction: fma (with doubles, or in integers if doubles
// are software, too) and f16 -> f32.
#ifndef BANTAM_KERNELS_GENERIC_SOFT_FLOAT_H_
#define BANTAM_KERNELS_GENERIC_SOFT_FLOAT_H_

#include "kernels/generic/config.h"

// Defined if the processor computes doubles itself, rounding each operation once to 53 bits.
#if defined(__SSE2_MATH__) || (defined(__ARM_FP) && (__ARM_FP & 8) != 0) || defined(__wasm__)
#define BANTAM_KERNEL_DOUBLES 1
#else
#define BANTAM_KERNEL_DOUBLES 0
#endif

namespace bantam::kernels::BANTAM_KERNEL_NAMESPACE {

/// A finite nonzero magnitude as m * 2^(e - 150), 2^23 <= m < 2^24; 0 has m = 0.
struct FloatParts {
  uint32_t m;
  int32_t e;
};
inline FloatParts parts_of(uint32_t magnitude) {
  const uint32_t m = magnitude & 0x7fffffu;
  if (magnitude >= 0x800000u) return {m | 0x800000u, static_cast<int32_t>(magnitude >> 23)};
  const int32_t shift = m == 0 ? 0 : __builtin_clz(m) - 8;
  return {m << shift, 1 - shift};
}
/// v >> n; the lowest bit is also set if a lost bit was set, which is all that rounding needs.
inline uint64_t shift_right_sticky(uint64_t v, uint32_t n) {
  if (n > 63) return v != 0 ? 1 : 0;
  return (v >> n) | ((v & ((uint64_t{1} << n) - 1)) != 0 ? 1u : 0u);
}

/// a * b + c with one rounding to nearest even, including subnormals and overflow, in integer arithmetic: for cores
/// without an FPU, where it avoids wider software floats.
inline float soft_fma(float a, float b, float c) {
  uint32_t bits[3];
  memcpy(&bits[0], &a, 4);
  memcpy(&bits[1], &b, 4);
  memcpy(&bits[2], &c, 4);
  constexpr uint32_t kSign = 0x80000000u;
  constexpr uint32_t kInfinity = 0x7f800000u;
  const uint32_t magnitude[3] = {bits[0] & ~kSign, bits[1] & ~kSign, bits[2] & ~kSign};
  // Either the product is exact, or only the addend matters.
  for (int i = 0; i < 2; ++i) {
    if (magnitude[i] == 0 || magnitude[i] >= kInfinity) return a * b + c;
  }
  if (magnitude[2] >= kInfinity) return c;
  const FloatParts x = parts_of(magnitude[0]);
  const FloatParts y = parts_of(magnitude[1]);
  const FloatParts z = parts_of(magnitude[2]);
  uint32_t sign = (bits[0] ^ bits[1]) & kSign;
  // Product p and addend q in units of 2^e; both have their first bit among bits 60 and 61. Alignment loses a bit only
  // if they are 2^14 apart, so that a difference still has enough bits.
  uint64_t p = (uint64_t{x.m} * y.m) << 14;
  uint64_t q = uint64_t{z.m} << 38;
  int32_t e = x.e + y.e - 314;
  const int32_t apart = e - (z.e - 188);
  if (apart >= 0 || q == 0) {
    q = shift_right_sticky(q, static_cast<uint32_t>(apart));
  } else {
    p = shift_right_sticky(p, static_cast<uint32_t>(-apart));
    e -= apart;
  }
  uint64_t s = p + q;
  if (sign != (bits[2] & kSign)) {
    s = p - q;
    if (p < q) {
      s = q - p;
      sign ^= kSign;
    }
    if (s == 0) return 0.0f;
  }
  // Keep 24 bits, fewer if the result is subnormal, and two more that determine the rounding.
  const int32_t first = 63 - __builtin_clzll(s);
  int32_t exponent = first + e + 127;
  int32_t drop = first - 25;
  if (exponent < 1) {
    drop += 1 - exponent;
    exponent = 1;
  }
  s = drop >= 0 ? shift_right_sticky(s, static_cast<uint32_t>(drop)) : s << -drop;
  uint32_t m = static_cast<uint32_t>(s >> 2);
  const uint32_t rest = static_cast<uint32_t>(s) & 3u;
  if (rest > 2 || (rest == 2 && (m & 1) != 0)) ++m;
  const uint32_t result =
      sign | (exponent >= 255 ? kInfinity : (static_cast<uint32_t>(exponent - 1) << 23) + m);  // m may carry
  float value;
  memcpy(&value, &result, sizeof value);
  return value;
}

#if BANTAM_KERNEL_DOUBLES
/// The same with doubles. The product is exact; the sum is rounded to odd, and rounding its 53 bits to the 24 of a
/// float gives the same result as rounding the exact sum (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums", IEEE TC 57(4), 2008). The rounding error of the sum is exact, too (Knuth's TwoSum), and NaN if the sum is not
/// finite.
inline float double_fma(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double q = static_cast<double>(c);
  double sum = p + q;
  const double of_q = sum - p;
  const double lost = (p - (sum - of_q)) + (q - of_q);
  const bool more = lost > 0;
  if (more || lost < 0) {
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if ((bits & 1) == 0) bits += more == (sum > 0) ? uint64_t{1} : ~uint64_t{0};
    memcpy(&sum, &bits, sizeof sum);
  }
  return static_cast<float>(sum);
}
#endif

/// IEEE half to float, exact, including subnormals, infinities and NaN (made quiet, payload kept).
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
