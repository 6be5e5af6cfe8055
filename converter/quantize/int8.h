// Symmetric int8 for one row of weights (one output channel, or one row of an embedding).
#ifndef BANTAM_CONVERTER_QUANTIZE_INT8_H_
#define BANTAM_CONVERTER_QUANTIZE_INT8_H_

#include <cstddef>
#include <cstdint>

namespace bantam::convert {

/// Returns the scale for `row[0, count)`: max|row| / 127, so that nothing is clipped; 1 for a row of zeros, or if the
/// scale would leave f32's normal range. The input must be finite. O(count).
float int8_scale(const float* row, size_t count);

/// The number of inputs from which rows are made to fit words, see linear_scale.
constexpr size_t kFittedInputs = 128;

/// As int8_scale, for a row of linear weights. From kFittedInputs inputs on, the scale is large enough that the
/// integers, rounded to nearest, fit words (fits_words). That enlarges the steps of rows of 384 inputs by 4 to 8 % on
/// average; it would enlarge those of shorter rows more, although such layers take little time. O(count).
float linear_scale(const float* row, size_t count);

/// Returns true if kernels may sum the products of four of these weights in 16 bits: LinearQ8::fits_words of kernels.h.
/// O(count).
bool fits_words(const int8_t* row, size_t count);

/// Returns the scale for which all values of `row[0, count)` are already integers in [-127, 127], within some
/// thousandths of a step: a model that was quantized before keeps its integers. Returns 0 if there is no such scale.
/// O(count) for such rows, and less for others.
float integer_scale(const float* row, size_t count);

/// Sets stored[i] = clamp(round to nearest even(row[i] / scale), -127, 127). Returns the maximum of |stored * scale -
/// row|.
float int8_quantize(const float* row, size_t count, float scale, int8_t* stored);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_INT8_H_
