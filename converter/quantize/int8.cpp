#include "quantize/int8.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/kernels.h"

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

/// The largest sum of four magnitudes whose products a 16-bit word would have to hold; f(value) is the magnitude of a
/// value.
template <class T, class Magnitude>
auto largest_four(const T* row, size_t count, const Magnitude& f) {
  auto largest = f(T{0});
  for (size_t first = 0; first < count; first += 8) {
    decltype(largest) sums[2] = {};
    for (size_t i = first; i < std::min(count, first + 8); ++i) sums[i / 2 % 2] += f(row[i]);
    largest = std::max({largest, sums[0], sums[1]});
  }
  return largest;
}

}  // namespace

bool fits_words(const int8_t* row, size_t count) {
  return largest_four(row, count, [](int8_t weight) { return std::abs(int32_t{weight}); }) <= kernels::kMostInWords;
}

float linear_scale(const float* row, size_t count) {
  float scale = int8_scale(row, count);
  if (count < kFittedInputs) return scale;
  scale = std::max(scale, largest_four(row, count, [](float value) { return std::fabs(value); }) /
                              static_cast<float>(kernels::kMostInWords));
  constexpr float kStep = 1.002F;  // half a weight of 251
  for (;; scale *= kStep) {
    const float inverse = 1.0f / scale;
    const auto magnitude = [inverse](float value) {
      return static_cast<int32_t>(std::fabs(stored_value(value, inverse)));
    };
    if (largest_four(row, count, magnitude) <= kernels::kMostInWords) return scale;
  }
}

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
  for (int steps = 1; steps <= kMost; ++steps) {  // number of steps in the largest value
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
