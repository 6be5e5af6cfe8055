#include "quantize/int4.h"

#include <algorithm>
#include <cmath>

namespace bantam::convert {
namespace {

constexpr double kLow = -8;
constexpr double kHigh = 7;
constexpr int kLargestFactor = 15;

/// One group of a row.
struct Group {
  const float* values;
  const double* importance;  // or null
  size_t count;

  double error(double step) const {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      const double difference = double{values[i]} - int4_nearest(values[i], step) * step;
      sum += difference * difference * (importance == nullptr ? 1.0 : importance[i]);
    }
    return sum;
  }
  double largest() const {
    double found = 0;
    for (size_t i = 0; i < count; ++i) found = std::max(found, std::fabs(double{values[i]}));
    return found;
  }
};

/// Searches for the best step: clipping the largest weights costs less than steps that are too coarse for the others.
/// For Gaussian weights the best is about 0.8 of the full range.
double best_step(const Group& group) {
  const double whole = group.largest() / kHigh;
  if (whole == 0) return 0;
  double best = whole;
  double least = group.error(whole);
  for (int percent = 60; percent < 100; percent += 4) {
    const double step = whole * percent / 100;
    const double error = group.error(step);
    if (error < least) {
      least = error;
      best = step;
    }
  }
  return best;
}

uint8_t best_factor(const Group& group, double scale, double step) {
  const int nearest = static_cast<int>(step / scale + 0.5);
  int best = std::clamp(nearest, 1, kLargestFactor);
  double least = group.error(scale * best);
  for (const int factor : {nearest - 1, nearest + 1}) {
    if (factor < 1 || factor > kLargestFactor) continue;
    const double error = group.error(scale * factor);
    if (error < least) {
      best = factor;
      least = error;
    }
  }
  return static_cast<uint8_t>(best);
}

}  // namespace

int8_t int4_nearest(double value, double step) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: the addition leaves no fraction bits
  return static_cast<int8_t>(std::clamp(value / step, kLow, kHigh) + kMagic - kMagic);
}

Int4Scales int4_scales(const float* row, size_t count, size_t group, const double* importance) {
  Int4Scales found;
  std::vector<Group> groups;
  for (size_t i = 0; i < count; i += group) {
    groups.push_back({row + i, importance == nullptr ? nullptr : importance + i, std::min(group, count - i)});
  }
  std::vector<double> steps(groups.size());
  double longest = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    steps[g] = best_step(groups[g]);
    longest = std::max(longest, steps[g]);
  }
  found.factors.assign(groups.size(), 1);
  found.scale = static_cast<float>(longest / kLargestFactor);
  if (found.scale < 1e-35f) {
    found.scale = 1;
    return found;
  }
  for (size_t g = 0; g < groups.size(); ++g) found.factors[g] = best_factor(groups[g], found.scale, steps[g]);
  return found;
}

void int4_quantize(const float* row, size_t count, size_t group, const Int4Scales& scales, int8_t* stored) {
  for (size_t i = 0; i < count; ++i) {
    stored[i] = int4_nearest(row[i], double{scales.scale} * scales.factors[i / group]);
  }
}

}  // namespace bantam::convert
