// Symmetric int4 with group factors for one row of weights (one output channel).
#ifndef BANTAM_CONVERTER_QUANTIZE_INT4_H_
#define BANTAM_CONVERTER_QUANTIZE_INT4_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bantam::convert {

/// A stored weight is multiplied by scale * the factor of its group.
struct Int4Scales {
  float scale = 1;
  std::vector<uint8_t> factors;  // 1 to 15, one for each `group` weights; the last group may be shorter
};

/// Returns the scale and factors with approximately the least squared error for `row[0, count)`: finds the best scale
/// of each group, then the nearest factors. `importance` weights each column (the mean square of its input); null: 1.
/// The input must be finite. O(count). A row of zeros has scale 1.
Int4Scales int4_scales(const float* row, size_t count, size_t group, const double* importance = nullptr);

/// Returns the integer in [-8, 7] that is nearest to value / step, with ties to even.
int8_t int4_nearest(double value, double step);

/// Sets stored[i] to the integer in [-8, 7] that is nearest to row[i] / (scale * factor), with ties to even.
void int4_quantize(const float* row, size_t count, size_t group, const Int4Scales& scales, int8_t* stored);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_INT4_H_
