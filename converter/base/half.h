// Converts f32 to f16 (IEEE binary16), rounding to nearest even. float_from_f16 in base/float_bits.h converts back.
#ifndef BANTAM_CONVERTER_BASE_HALF_H_
#define BANTAM_CONVERTER_BASE_HALF_H_

#include <cstdint>

namespace bantam::convert {

/// Largest finite f16.
constexpr float kHalfMax = 65504.0f;

/// Values beyond the range become infinity; NaN stays NaN.
uint16_t half_from_float(float value);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_HALF_H_
