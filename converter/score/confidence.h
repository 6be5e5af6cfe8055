// Confidence bounds: what a sample of texts says about all texts.
#ifndef BANTAM_CONVERTER_SCORE_CONFIDENCE_H_
#define BANTAM_CONVERTER_SCORE_CONFIDENCE_H_

#include <cstdint>

namespace bantam::convert {

/// The confidence of every bound here: the probability that the true value is on the correct side of the bound.
constexpr double kConfidence = 0.95;

/// Sums over texts. Texts are independent of each other, but the items counted within one text (such as the labels of
/// its tokens) are not.
class TextSums {
 public:
  /// Adds one text: `amount` (flips, points lost, distance) over `count` counted items. Ignores texts with count 0.
  void add(double amount, double count);
  uint64_t texts() const { return texts_; }
  double amount() const { return amount_; }
  double count() const { return count_; }
  /// Returns amount / count; 0 without texts.
  double rate() const { return count_ > 0 ? amount_ / count_ : 0; }
  /// Returns the variance of the rate from the variation between texts (linearized ratio estimator; Cochran, Sampling
  /// Techniques, 1977, 6.4).
  double variance() const;

 private:
  friend double difference_lower_bound(const TextSums& sums);
  uint64_t texts_ = 0;
  double amount_ = 0, count_ = 0;
  double amounts_squared_ = 0, counts_squared_ = 0, products_ = 0;
};

/// Lower and upper bound, 95 % each, of a proportion whose occurrences `sums` counts. This is the exact interval of
/// Clopper and Pearson, because proportions are near 0, where Wilson's approximation refuses too often. The number of
/// independent decisions replaces the number of decisions (Korn and Graubard, Survey Methodology 24, 1998), because
/// labels of one text flip together. With one decision per text, it is the plain interval.
double share_lower_bound(const TextSums& sums);
double share_upper_bound(const TextSums& sums);

/// Lower bound of a mean of differences of either sign (points lost per text). It uses the normal distribution after
/// adding half a text that loses a point and half a text that gains one, as Agresti and Min (Statistics in Medicine 24,
/// 2005) do for paired proportions. Without this, a few texts would seem certain.
double difference_lower_bound(const TextSums& sums);

/// Lower bound of a mean of nonnegative amounts, by the normal distribution.
double mean_lower_bound(const TextSums& sums);

/// Returns the smallest probability for which the binomial tail P(X >= successes) in `trials` is 5 %; the arguments
/// need not be integers. 0 if there are no successes.
double clopper_pearson_lower(double successes, double trials);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_CONFIDENCE_H_
