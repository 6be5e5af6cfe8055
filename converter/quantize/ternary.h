// Ternary weights: -1, 0 and 1 times one scale for each row (one output channel), as BitNet b1.58 trains them (arXiv
// 2402.17764).
#ifndef BANTAM_CONVERTER_QUANTIZE_TERNARY_H_
#define BANTAM_CONVERTER_QUANTIZE_TERNARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "graph/graph.h"

namespace bantam::convert {

/// Returns the scale, max|row|, of which all values of `row[0, count)` are -1, 0 or 1 times, within 1/256 of it (what
/// bf16 rounds two numbers apart); 1 for a row of zeros; nullopt for any other row. O(count).
std::optional<float> ternary_scale(const float* row, size_t count);

/// Sets stored[i] to -1, 0 or 1: the integer nearest to row[i] / scale.
void ternary_quantize(const float* row, size_t count, float scale, int8_t* stored);

/// Returns true if all rows of a matrix have a ternary scale. Reads rows up to the first that has none.
bool ternary_rows(const Constant& matrix, size_t columns);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_QUANTIZE_TERNARY_H_
