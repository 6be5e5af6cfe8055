// Symmetric int4 in groups for one row of weights (one output channel).
#ifndef BANTAM_CONVERTER_QUANTIZE_INT4_H_
#define BANTAM_CONVERTER_QUANTIZE_INT4_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bantam::convert {

/// The multiplier of a stored weight: scale * factor of its group.
struct Int4Scales {
  float scale = 1;
  std::vector<uint8_t> factors;  // 1 to 15, one for each `group` weights; the last group may be shorter
};

/// Returns the scale and factors that give `row[0, count)` the least squared error: finds each group's own best scale
/// first, then the factor nearest to it. `importance` weights each column (the mean square of its input); null for 1.
/// The input must be finite. O(count). A row of zeros has scale 1.
Int4Scales int4_scales(const float* row, size_t count, size_t group, const double* importance = nullptr);

/// Returns the integer in [-8, 7] that is nearest to value / step, ties to even.
int8_t int4_nearest(double value, double step);

/// stored[i] = the number in [-8, 7] that is nearest to row[i] / (scale * factor), ties to even.
void int4_quantize(const float* row, size_t count, size_t group, const Int4Scales& scales, int8_t* stored);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_INT4_H_
