// Symmetric int8 for one row of weights (one output channel, or one row of an embedding).
#ifndef BANTAM_CONVERTER_QUANTIZE_INT8_H_
#define BANTAM_CONVERTER_QUANTIZE_INT8_H_

#include <cstddef>
#include <cstdint>

namespace bantam::convert {

/// The scale for `row[0, count)`: the one of kScaleCandidates between 0.7 and 1 times max|row| / 127 whose
/// squared rounding error over the row is smallest (the largest scale wins a tie). 1 for a row of zeros.
/// Finite input. O(count * candidates).
float int8_scale(const float* row, size_t count);
constexpr int kScaleCandidates = 31;

/// stored[i] = clamp(round to nearest even(row[i] / scale), -127, 127). Returns the largest |stored * scale - row|.
float int8_quantize(const float* row, size_t count, float scale, int8_t* stored);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_INT8_H_
