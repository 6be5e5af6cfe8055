#include "quantize/ternary.h"

#include <algorithm>
#include <cmath>

#include "graph/rows.h"

namespace bantam::convert {

std::optional<float> ternary_scale(const float* row, size_t count) {
  constexpr float kNear = 1.0F / 256;
  float largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(row[i]));
  if (largest < 1e-30F) return 1.0F;
  const float near = largest * kNear;
  const auto fits = [&](float value) {
    const float magnitude = std::fabs(value);
    return magnitude <= near || magnitude >= largest - near;
  };
  return std::all_of(row, row + count, fits) ? std::optional<float>(largest) : std::nullopt;
}

void ternary_quantize(const float* row, size_t count, float scale, int8_t* stored) {
  const float half = scale / 2;
  for (size_t i = 0; i < count; ++i)
    stored[i] = static_cast<int8_t>((row[i] > half ? 1 : 0) - (row[i] < -half ? 1 : 0));
}

bool ternary_rows(const Constant& matrix, size_t columns) {
  ConstantRows rows(matrix, columns);
  for (size_t r = 0; r < rows.size(); ++r) {
    if (!ternary_scale(rows.row(r), columns)) return false;
  }
  return true;
}

}  // namespace bantam::convert
