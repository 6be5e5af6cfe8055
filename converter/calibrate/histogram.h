// A histogram of magnitudes, and the ranges that calibration derives from it.
#ifndef BANTAM_CONVERTER_CALIBRATE_HISTOGRAM_H_
#define BANTAM_CONVERTER_CALIBRATE_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace bantam::convert {

/// Counts of numbers in bins of equal width over [0, limit). The limit is a power of two. When it doubles, pairs of
/// bins merge and no number moves to a wrong bin: a histogram that grew equals one that had its final limit from the
/// start. At most 2 KB.
class Histogram {
 public:
  static constexpr uint32_t kBins = 512;

  /// `magnitude` is finite and >= 0.
  void add(float magnitude);

  uint64_t total() const { return total_; }
  double largest() const { return double{largest_}; }
  double limit() const { return limit_; }
  /// Empty before the first number.
  const std::vector<uint32_t>& counts() const { return counts_; }
  double middle(uint32_t bin) const { return limit_ / kBins * (bin + 0.5); }

  /// The lowest upper end of a bin, at most largest(), that at least the fraction `share` of all numbers does not
  /// exceed; 0 without numbers.
  double quantile(double share) const;

  /// The sum of squared errors if every number is rounded to the nearest of 0, step, ... 127 * step with step = range /
  /// 127, assuming that numbers are uniform within their bins. range > 0.
  double rounding_error(double range) const;

 private:
  std::vector<uint32_t> counts_;
  uint64_t total_ = 0;
  double limit_ = 0;
  float largest_ = 0;
};

/// The range with the least rounding_error among 64 from largest() down to a quarter of it: clipping the few largest
/// numbers makes the steps of all others finer (Nagel et al., A White Paper on Neural Network Quantization, arXiv
/// 2106.08295, section 3.1). Never worse than largest(). 0 if all numbers are 0.
double least_error_range(const Histogram& histogram);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_CALIBRATE_HISTOGRAM_H_
