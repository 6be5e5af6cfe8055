// sentence-transformers' four similarity functions.
#include "score/similarity.h"

#include <gtest/gtest.h>

namespace bantam::convert {
namespace {

TEST(Similarity, FollowsTheFormulas) {
  const std::vector<float> a = {3, 4}, b = {4, -3}, c = {6, 8};
  EXPECT_NEAR(compare(Similarity::kCosine, a, c), 1, 1e-6);
  EXPECT_NEAR(compare(Similarity::kCosine, a, b), 0, 1e-6);
  EXPECT_EQ(compare(Similarity::kDot, a, c), 50);
  EXPECT_EQ(compare(Similarity::kEuclidean, a, c), -5);
  EXPECT_EQ(compare(Similarity::kManhattan, a, c), -7);
}

}  // namespace
}  // namespace bantam::convert
