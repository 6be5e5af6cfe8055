#include "score/confidence.h"

#include <algorithm>
#include <cmath>

namespace bantam::convert {
namespace {

/// The 95 % quantile of the standard normal distribution.
constexpr double kNormalQuantile = 1.6448536269514722;

/// Evaluates the continued fraction of the regularized incomplete beta function (DLMF 8.17.22) by the modified Lentz
/// method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10000;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
  double value = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      c = 1 + term / c;
      d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
      if (std::fabs(c) < kTiny) c = kTiny;
      step = c * d;
      value *= step;
    }
    if (std::fabs(step - 1) < 1e-14) break;
  }
  return value;
}

/// Returns I_x(a, b). For integers, this is P(X >= a) for a binomial variable of a + b - 1 trials with probability x.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on one side of the mean; symmetry gives the other side.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// Returns the number of independent decisions with the same variance as the sample: between one and the number of
/// decisions.
double independent(const TextSums& sums, double share) {
  const double count = sums.count();
  // If all decisions are equal, the variation between texts is unknown: count one decision per text.
  const double texts = std::min(count, static_cast<double>(sums.texts()));
  if (sums.texts() < 2) return std::min(count, 1.0);
  if (share <= 0 || share >= 1) return texts;
  // Without the correction for few texts, so that one decision per text gives the plain interval.
  const double variance = sums.variance() * static_cast<double>(sums.texts() - 1) / static_cast<double>(sums.texts());
  return variance <= 0 ? count : std::clamp(share * (1 - share) / variance, 1.0, count);
}

}  // namespace

void TextSums::add(double amount, double count) {
  if (count <= 0) return;
  ++texts_;
  amount_ += amount;
  count_ += count;
  amounts_squared_ += amount * amount;
  counts_squared_ += count * count;
  products_ += amount * count;
}

double TextSums::variance() const {
  if (texts_ < 2) return 0;
  const double r = rate(), texts = static_cast<double>(texts_);
  const double squares = amounts_squared_ - 2 * r * products_ + r * r * counts_squared_;
  return std::max(0.0, squares) / (count_ * count_) * texts / (texts - 1);
}

double clopper_pearson_lower(double successes, double trials) {
  if (successes <= 0 || trials <= 0) return 0;
  double low = 0, high = std::min(1.0, successes / trials);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (incomplete_beta(successes, trials - successes + 1, middle) < 1 - kConfidence ? low : high) = middle;
  }
  return low;
}

double share_lower_bound(const TextSums& sums) {
  const double share = sums.rate(), trials = independent(sums, share);
  return clopper_pearson_lower(share * trials, trials);
}

double share_upper_bound(const TextSums& sums) {
  if (sums.count() <= 0) return 1;
  const double share = sums.rate(), trials = independent(sums, share);
  return 1 - clopper_pearson_lower((1 - share) * trials, trials);
}

double difference_lower_bound(const TextSums& sums) {
  if (sums.texts_ == 0) return 0;
  const double count = sums.count_ + 2, r = sums.amount_ / count;
  const double squares = sums.amounts_squared_ + 1 - 2 * r * sums.products_ + r * r * (sums.counts_squared_ + 2);
  return r - kNormalQuantile * std::sqrt(std::max(0.0, squares)) / count;
}

double mean_lower_bound(const TextSums& sums) {
  if (sums.texts() < 2) return sums.rate();
  return sums.rate() - kNormalQuantile * std::sqrt(sums.variance());
}

}  // namespace bantam::convert
