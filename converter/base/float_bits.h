// 16-bit floats to f32; every value converts exactly (subnormals, infinities and NaNs included).
#ifndef BANTAM_CONVERTER_BASE_FLOAT_BITS_H_
#define BANTAM_CONVERTER_BASE_FLOAT_BITS_H_

#include <cstdint>
#include <cstring>

namespace bantam::convert {

inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// bfloat16: the upper half of an f32.
inline float float_from_bf16(uint16_t bits) { return float_from_bits(uint32_t{bits} << 16); }

/// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
inline float float_from_f16(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU;
  const uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0x1F) return float_from_bits(sign | 0x7F800000U | (fraction << 13));
  if (exponent != 0) return float_from_bits(sign | ((exponent + 112U) << 23) | (fraction << 13));
  // Zero or subnormal: fraction * 2^-24, exact in f32.
  const float magnitude = static_cast<float>(fraction) * 5.9604644775390625e-8F;
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_FLOAT_BITS_H_
