// Random numbers as torch draws them, from which rotations for hashing are made. The expected values are from:
//   torch.manual_seed(SEED); torch.randn(COUNT)        (torch 2.15 on an x86-64)
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "network/blocks/hash_rotations.h"

namespace bantam::convert {
namespace {

/// torch's logarithms and cosines are f32.
constexpr float kNear = 3e-6F;

void expect_near(const std::vector<float>& found, const std::vector<float>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], kNear) << i;
}

/// Sixteen at a time; if some are left over, the last sixteen are drawn again.
TEST(HashRotations, AreDrawnAsTorchDraws) {
  const std::vector<float> wanted = {
      -0.82013452F, 0.39563116F,  0.8989085F,  -1.3884039F,  -0.16699602F, 0.28514996F,  -0.64109153F, -0.89365542F,
      0.926543F,    -0.53551221F, -1.1597203F, -0.46015716F, 0.70853907F,  1.0127554F,   0.23039687F,  1.0901651F,
      -1.5826646F,  -0.32456663F, 1.9263681F,  -0.33001173F, 0.19844505F,  -0.66186756F, -0.82845205F, -0.60568029F,
      -0.13543689F, 0.74711823F,  0.61181575F, 1.8677835F,   2.5116029F,   -0.25013262F, 0.50112146F,  0.2600362F,
      -1.6370213F,  0.15771191F,  0.39574093F, -1.3677397F,  -0.10073432F};
  expect_near(torch_normals(7, 37), wanted);
  std::vector<float> whole = wanted;
  whole.resize(16);
  expect_near(torch_normals(7, 16), whole);
}

/// Fewer than sixteen are drawn one by one, in f64.
TEST(HashRotations, AreFewInAnotherWay) {
  expect_near(torch_normals(12345, 5), {1.4271305F, -1.8700892F, -1.1962104F, -2.0439513F, -0.45599058F});
  EXPECT_TRUE(torch_normals(1, 0).empty());
}

/// torch.randn(3, 5, 2, 3) with seed 3, and of it [2, :, 1, :].
TEST(HashRotations, LieInRowsOfAHead) {
  constexpr size_t kHeads = 3, kWidth = 5, kRounds = 2, kProducts = 3, kPadded = 16;
  const std::vector<float> rows = hash_rotations(3, kHeads, kWidth, kRounds, kProducts);
  ASSERT_EQ(rows.size(), kHeads * kRounds * kPadded * kWidth);
  const std::vector<float> wanted = {1.3777584F,  -0.075202502F, -0.42329928F, 1.3960104F,   -1.0318878F,
                                     1.1390887F,  -0.011155106F, -0.35313487F, -0.83879793F, -0.60157651F,
                                     0.56170297F, 1.4444133F,    1.3343091F,   -0.32816049F, 1.6216359F};
  for (size_t column = 0; column < kWidth; ++column) {
    for (size_t i = 0; i < kPadded; ++i) {
      const float found = rows[((2 * kRounds + 1) * kPadded + i) * kWidth + column];
      EXPECT_NEAR(found, i < kProducts ? wanted[column * kProducts + i] : 0, kNear) << column << ", " << i;
    }
  }
}

}  // namespace
}  // namespace bantam::convert
