// Confidence bounds compared with their definitions.
#include "score/confidence.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bantam::convert {
namespace {

/// P(X >= successes) of a binomial variable, summed term by term.
double tail(int successes, int trials, double share) {
  double sum = 0;
  for (int k = successes; k <= trials; ++k) {
    const double ways = std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0);
    sum += std::exp(ways + k * std::log(share) + (trials - k) * std::log1p(-share));
  }
  return sum;
}

TextSums one_each(int flips, int texts) {
  TextSums sums;
  for (int i = 0; i < texts; ++i) sums.add(i < flips ? 1 : 0, 1);
  return sums;
}

TEST(Confidence, TheBoundIsWhereTheTailIsFivePercent) {
  for (const auto& [successes, trials] :
       {std::pair{1, 1}, {1, 69}, {2, 69}, {16, 762}, {50, 60}, {300, 20000}, {69, 69}})
    EXPECT_NEAR(tail(successes, trials, clopper_pearson_lower(successes, trials)), 0.05, 1e-6) << successes << trials;
  EXPECT_EQ(clopper_pearson_lower(0, 10), 0);
}

TEST(Confidence, TwoFlipsOfSixtyNineAreNotTwoPercentForCertain) {
  EXPECT_LT(share_lower_bound(one_each(2, 69)), 0.02);
  EXPECT_GT(share_lower_bound(one_each(5, 69)), 0.02);
  EXPECT_GT(share_lower_bound(one_each(60, 2000)), 0.02);
  EXPECT_GT(share_upper_bound(one_each(0, 69)), 0.04);   // 0 of 69 does not exclude 2 %
  EXPECT_LT(share_upper_bound(one_each(0, 200)), 0.02);  // 0 of 200 does
  EXPECT_EQ(share_upper_bound(TextSums()), 1);
}

TEST(Confidence, OneDecisionATextIsThePlainInterval) {
  EXPECT_NEAR(share_lower_bound(one_each(7, 100)), clopper_pearson_lower(7, 100), 2e-3);
}

TEST(Confidence, FlipsOfOneTextSayLessThanFlipsOfMany) {
  TextSums together, apart;
  for (int i = 0; i < 100; ++i) {
    together.add(i == 0 ? 10 : 0, 10);
    apart.add(i % 10 == 0 ? 1 : 0, 10);
  }
  EXPECT_EQ(together.rate(), apart.rate());
  EXPECT_LT(share_lower_bound(together), share_lower_bound(apart) / 2);
}

TEST(Confidence, LossesAndGainsOfTheSameSizeAreNoLoss) {
  TextSums even, lost;
  for (int i = 0; i < 400; ++i) {
    even.add(i < 40 ? 1 : i < 80 ? -1 : 0, 1);
    lost.add(i < 40 ? 1 : 0, 1);
  }
  EXPECT_LT(difference_lower_bound(even), 0);
  EXPECT_GT(difference_lower_bound(lost), 0.07);
  EXPECT_LT(difference_lower_bound(lost), 0.1);
  TextSums one;
  one.add(1, 1);
  EXPECT_LT(difference_lower_bound(one), 0);  // a single text proves nothing
  EXPECT_EQ(difference_lower_bound(TextSums()), 0);
}

TEST(Confidence, MeansVaryWithTheirTexts) {
  TextSums same, spread;
  for (int i = 0; i < 50; ++i) {
    same.add(0.1, 1);
    spread.add(i == 0 ? 5 : 0, 1);
  }
  EXPECT_NEAR(mean_lower_bound(same), 0.1, 1e-9);
  EXPECT_LT(mean_lower_bound(spread), 0);
}

}  // namespace
}  // namespace bantam::convert
