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

/// Sum of squared errors in 16 strided partial sums and a fixed tree: vectorisable, the same everywhere.
float squared_error(const float* row, size_t count, float scale) {
  const float inverse = 1.0f / scale;
  float lanes[16] = {};
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (size_t lane = 0; lane < 16; ++lane) {
      const float error = row[i + lane] - stored_value(row[i + lane], inverse) * scale;
      lanes[lane] += error * error;
    }
  }
  for (size_t lane = 0; i + lane < count; ++lane) {
    const float error = row[i + lane] - stored_value(row[i + lane], inverse) * scale;
    lanes[lane] += error * error;
  }
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

}  // namespace

float int8_scale(const float* row, size_t count) {
  float largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(row[i]));
  const float full = largest / 127.0f;
  // Rows so small that the scale or its inverse would leave f32's normal range are stored as zeros.
  if (full < 1e-35f) return 1.0f;
  float best = full;
  float best_error = squared_error(row, count, full);
  for (int i = 1; i < kScaleCandidates; ++i) {
    const float scale = full * (1.0f - 0.3f * static_cast<float>(i) / static_cast<float>(kScaleCandidates - 1));
    const float error = squared_error(row, count, scale);
    if (error < best_error) {
      best = scale;
      best_error = error;
    }
  }
  return best;
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
