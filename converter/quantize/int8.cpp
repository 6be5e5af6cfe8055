#include "quantize/int8.h"

#include <algorithm>
#include <cmath>

namespace bantam::convert {
namespace {

/// Round to nearest even for |x| < 2^22: the addition leaves no fraction bits.
inline float round_even(float x) {
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23
  return (x + kMagic) - kMagic;
}

inline float stored_value(float x, float inverse) {
  return round_even(std::min(127.0f, std::max(-127.0f, x * inverse)));
}

}  // namespace

float int8_scale(const float* row, size_t count) {
  float largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(row[i]));
  const float scale = largest / 127.0f;
  return scale < 1e-35f ? 1.0f : scale;
}

float integer_scale(const float* row, size_t count) {
  constexpr int kMost = 127;
  constexpr float kNear = 1e-3F;
  float largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(row[i]));
  if (largest < 1e-30F) return 0;
  for (int steps = 1; steps <= kMost; ++steps) {  // of the largest
    const float inverse = static_cast<float>(steps) / largest;
    size_t i = 0;
    while (i < count && std::fabs(row[i] * inverse - round_even(row[i] * inverse)) < kNear) ++i;
    if (i == count) return largest / static_cast<float>(steps);
  }
  return 0;
}

float int8_quantize(const float* row, size_t count, float scale, int8_t* stored) {
  const float inverse = 1.0f / scale;
  float worst = 0;
  for (size_t i = 0; i < count; ++i) {
    const float value = stored_value(row[i], inverse);
    stored[i] = static_cast<int8_t>(value);
    worst = std::max(worst, std::fabs(value * scale - row[i]));
  }
  return worst;
}

}  // namespace bantam::convert
