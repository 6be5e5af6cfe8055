// Symmetric int8 for one row of weights (one output channel, or one row of an embedding).
#ifndef BANTAM_CONVERTER_QUANTIZE_INT8_H_
#define BANTAM_CONVERTER_QUANTIZE_INT8_H_

#include <cstddef>
#include <cstdint>

namespace bantam::convert {

/// The scale for `row[0, count)`: max|row| / 127, so that nothing is clipped; 1 for a row of zeros, or of values
/// so small that the scale would leave f32's normal range. Finite input. O(count).
float int8_scale(const float* row, size_t count);

/// The number of inputs from which a row is made to fit words: see linear_scale.
constexpr size_t kFittedInputs = 128;

/// int8_scale for a row of linear weights; for kFittedInputs and more inputs it is large enough that the integers,
/// rounded to the nearest, fit words. The steps of rows of 384 inputs grow by 4 to 8 % on average. Those of rows of few
/// inputs would grow more, and such layers take little time. O(count).
float linear_scale(const float* row, size_t count);

/// Returns true if kernels may add up the products of four of these weights in 16 bits: LinearQ8::fits_words of
/// kernels.h. O(count).
bool fits_words(const int8_t* row, size_t count);

/// Returns the scale with which every value of `row[0, count)` is already a whole number within [-127, 127], to some
/// thousandths of a step: a model that was quantized before gets its integers back unchanged. 0: there is no such
/// scale. O(count) for such rows, and less for others.
float integer_scale(const float* row, size_t count);

/// stored[i] = clamp(round to nearest even(row[i] / scale), -127, 127). Returns the largest |stored * scale - row|.
float int8_quantize(const float* row, size_t count, float scale, int8_t* stored);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_INT8_H_
