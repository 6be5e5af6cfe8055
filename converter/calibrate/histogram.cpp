#include "calibrate/histogram.h"

#include <algorithm>
#include <cmath>

namespace bantam::convert {
namespace {

/// Integral from 0 to t >= 0 of (u - round(u))^2.
double rounding_integral(double t) {
  const double whole = std::floor(t + 0.5);
  const double rest = t - whole;
  return whole / 12 + rest * rest * rest / 3;
}

/// Integral from 0 to t >= 0 of the squared distance to the nearest of 0, 1, ... 127.
double error_integral(double t) {
  constexpr double kLast = 127.5;
  if (t <= kLast) return rounding_integral(t);
  const double beyond = t - 127;
  return rounding_integral(kLast) + (beyond * beyond * beyond - 0.125) / 3;
}

}  // namespace

void Histogram::add(float magnitude) {
  if (counts_.empty()) {
    counts_.resize(kBins);
    limit_ = 0x1p-20;
  }
  for (; !(double{magnitude} < limit_); limit_ *= 2) {
    for (uint32_t i = 0; i < kBins / 2; ++i) {
      counts_[i] = static_cast<uint32_t>(std::min<uint64_t>(UINT32_MAX, uint64_t{counts_[2 * i]} + counts_[2 * i + 1]));
    }
    std::fill(counts_.begin() + kBins / 2, counts_.end(), 0U);
  }
  uint32_t& count = counts_[static_cast<size_t>(double{magnitude} / limit_ * kBins)];
  if (count != UINT32_MAX) ++count;
  ++total_;
  largest_ = std::max(largest_, magnitude);
}

double Histogram::quantile(double share) const {
  const double wanted = share * static_cast<double>(total_);
  double seen = 0;
  for (uint32_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(limit_ / kBins * (i + 1), largest());
  }
  return largest();
}

double Histogram::rounding_error(double range) const {
  const double step = range / 127;
  const double width = limit_ / kBins / step;  // width of a bin in steps
  double error = 0;
  double before = 0;
  for (uint32_t i = 0; i < counts_.size(); ++i) {
    const double after = error_integral(width * (i + 1));
    error += counts_[i] * (after - before) / width;
    before = after;
  }
  return error * step * step;
}

double least_error_range(const Histogram& histogram) {
  constexpr int kRanges = 64;
  double best = histogram.largest();
  if (best <= 0) return 0;
  double least = histogram.rounding_error(best);
  for (int i = 1; i < kRanges; ++i) {
    const double range = histogram.largest() * (1 - 0.75 * i / (kRanges - 1));
    const double error = histogram.rounding_error(range);
    if (error >= least) continue;
    least = error;
    best = range;
  }
  return best;
}

}  // namespace bantam::convert
