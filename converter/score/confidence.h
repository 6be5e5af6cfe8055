// Confidence bounds: conclusions from a sample of texts about all texts.
#ifndef BANTAM_CONVERTER_SCORE_CONFIDENCE_H_
#define BANTAM_CONVERTER_SCORE_CONFIDENCE_H_

#include <cstdint>

namespace bantam::convert {

/// The confidence of every bound here: the share of samples in which the true value lies on the correct side of the
/// bound.
constexpr double kConfidence = 0.95;

/// Sums over texts. Texts are independent of each other; the items counted within one text (its tokens' labels) are
/// not.
class TextSums {
 public:
  /// Adds one text: `amount` (flips, points lost, distance) over `count` counted items. Leaves out texts with count 0.
  void add(double amount, double count);
  uint64_t texts() const { return texts_; }
  double amount() const { return amount_; }
  double count() const { return count_; }
  /// amount / count; 0 without texts.
  double rate() const { return count_ > 0 ? amount_ / count_ : 0; }
  /// The variance of the rate, from the spread between texts (linearised ratio estimator; Cochran, Sampling Techniques,
  /// 1977, 6.4).
  double variance() const;

 private:
  friend double difference_lower_bound(const TextSums& sums);
  uint64_t texts_ = 0;
  double amount_ = 0, count_ = 0;
  double amounts_squared_ = 0, counts_squared_ = 0, products_ = 0;
};

/// Lower and upper bound, 95 % each, of a share whose occurrences `sums` counts. Clopper and Pearson's exact interval,
/// because shares are near 0, where Wilson's approximation refuses too often; with the number of independent decisions
/// in place of all of them (Korn and Graubard, Survey Methodology 24, 1998), because labels of one text flip together.
/// One decision a text: the plain interval.
double share_lower_bound(const TextSums& sums);
double share_upper_bound(const TextSums& sums);

/// Lower bound of a mean of differences that may have either sign (points lost, per text): normal, after adding half a
/// text that loses a point and half a one that gains one, as Agresti and Min (Statistics in Medicine 24, 2005) do for
/// paired proportions, without which few texts seem certain.
double difference_lower_bound(const TextSums& sums);

/// Lower bound of a mean of amounts that are not negative: normal.
double mean_lower_bound(const TextSums& sums);

/// The smallest share whose binomial tail P(X >= successes) in `trials` is 5 %; numbers need not be whole. 0 for none.
double clopper_pearson_lower(double successes, double trials);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SCORE_CONFIDENCE_H_
