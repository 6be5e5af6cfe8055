// Histogram of magnitudes, and the ranges that calibration takes from it.
#ifndef BANTAM_CONVERTER_CALIBRATE_HISTOGRAM_H_
#define BANTAM_CONVERTER_CALIBRATE_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace bantam::convert {

/// Counts of numbers in bins of equal width over [0, limit). The limit is a power of two, so that it doubles, pairs of bins
/// becoming one, without moving a number: a histogram that grew equals one that had its last limit from the start. At most 2 KB.
class Histogram {
 public:
  static constexpr uint32_t kBins = 512;

  /// `magnitude` >= 0 and finite.
  void add(float magnitude);

  uint64_t total() const { return total_; }
  double largest() const { return double{largest_}; }
  double limit() const { return limit_; }
  /// Empty before the first number.
  const std::vector<uint32_t>& counts() const { return counts_; }
  double middle(uint32_t bin) const { return limit_ / kBins * (bin + 0.5); }

  /// The least end of a bin, at most largest(), that `share` of all numbers do not exceed; 0 without numbers.
  double quantile(double share) const;

  /// Sum of the squared errors when every number is rounded to the nearest of 0, step, ... 127 * step with step = range / 127,
  /// numbers lying evenly within their bins. range > 0.
  double rounding_error(double range) const;

 private:
  std::vector<uint32_t> counts_;
  uint64_t total_ = 0;
  double limit_ = 0;
  float largest_ = 0;
};

/// The range with the least rounding_error of 64 from largest() down to a quarter of it: clipping the few largest numbers makes
/// all others' steps finer (Nagel et al., A White Paper on Neural Network Quantization, arXiv 2106.08295, section 3.1). Never
/// worse than largest(). 0 where all numbers are.
double least_error_range(const Histogram& histogram);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_HISTOGRAM_H_
