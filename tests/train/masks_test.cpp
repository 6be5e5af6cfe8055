#include <gtest/gtest.h>

#include "base/error.h"
#include "quantize/int4.h"
#include "quantize/int8.h"
#include "train/fake_quant.h"
#include "train/prune.h"

namespace bantam::train {
namespace {

TEST(FakeQuant, IsTheGridThatTheFileStores) {
  torch::manual_seed(3);
  const at::Tensor weight = torch::randn({6, 37});
  const at::Tensor grid = fake_quant_rows(weight);
  for (int64_t r = 0; r < weight.size(0); ++r) {
    const float* row = weight[r].data_ptr<float>();
    std::vector<int8_t> stored(37);
    const float scale = convert::int8_scale(row, 37);
    convert::int8_quantize(row, 37, scale, stored.data());
    for (int64_t k = 0; k < 37; ++k) {
      EXPECT_NEAR(grid[r][k].item<float>(), static_cast<float>(stored[static_cast<size_t>(k)]) * scale, 1e-6F);
    }
  }
}

TEST(FakeQuant, RoundsHalvesToEven) {
  // The largest value gives a scale of 1; the others are halves.
  const at::Tensor x = torch::tensor({127.0F, 0.5F, 1.5F, -2.5F, -126.5F, 0.49F});
  EXPECT_TRUE(torch::equal(fake_quant_rows(x), torch::tensor({127.0F, 0.0F, 2.0F, -2.0F, -126.0F, 0.0F})));
}

TEST(FakeQuant, PassesGradientsAndZeros) {
  const at::Tensor x = torch::randn({3, 5}).set_requires_grad(true);
  (fake_quant_rows(x) * 2).sum().backward();
  EXPECT_TRUE(torch::equal(x.grad(), torch::full({3, 5}, 2.0F)));
  EXPECT_TRUE(torch::equal(fake_quant_rows(torch::zeros({2, 4})), torch::zeros({2, 4})));
}

TEST(FakeQuant, GroupsOfFourBits) {
  torch::manual_seed(4);
  const at::Tensor weight = torch::randn({3, 70}).set_requires_grad(true);
  const at::Tensor grid = fake_quant_groups(weight, 32);
  for (int64_t r = 0; r < 3; ++r) {
    const float* row = weight[r].data_ptr<float>();
    std::vector<int8_t> stored(70);
    const convert::Int4Scales scales = convert::int4_scales(row, 70, 32);
    convert::int4_quantize(row, 70, 32, scales, stored.data());
    for (size_t k = 0; k < 70; ++k) {
      const float wanted = static_cast<float>(stored[k]) * scales.scale * static_cast<float>(scales.factors[k / 32]);
      EXPECT_NEAR(grid[r][static_cast<int64_t>(k)].item<float>(), wanted, 1e-5F);
    }
  }
  grid.sum().backward();
  EXPECT_TRUE(torch::equal(weight.grad(), torch::ones({3, 70})));
}

at::Tensor mask_of(const at::Tensor& weight, const char* pattern, double sparsity) {
  return masks_of({weight}, convert::parse_zero_pattern(pattern), sparsity, convert::PruneScope::kUniform).at(0);
}

double zeros(const at::Tensor& mask) { return 1 - mask.mean().item<double>(); }

TEST(Masks, TakeTheSmallestBlocks) {
  at::Tensor weight = torch::ones({4, 8});
  weight[1].narrow(0, 4, 4).fill_(0.1);
  weight[2].narrow(0, 0, 4).fill_(-0.2);
  const at::Tensor mask = mask_of(weight, "1x4", 0.25);
  at::Tensor wanted = torch::ones({4, 8});
  wanted[1].narrow(0, 4, 4).fill_(0);
  wanted[2].narrow(0, 0, 4).fill_(0);
  EXPECT_TRUE(torch::equal(mask, wanted)) << mask;
}

TEST(Masks, HaveTheSparsityAskedFor) {
  torch::manual_seed(5);
  const at::Tensor weight = torch::randn({64, 48});
  for (const char* pattern : {"unstructured", "1x4", "4x16"}) {
    EXPECT_NEAR(zeros(mask_of(weight, pattern, 0.8)), 0.8, 0.02) << pattern;
    EXPECT_EQ(zeros(mask_of(weight, pattern, 0)), 0) << pattern;
  }
  const at::Tensor half = mask_of(weight, "2:4", 0.5);
  EXPECT_TRUE(torch::equal(half.view({64, 12, 4}).sum(-1), torch::full({64, 12}, 2.0F)));
  // Edges that are not multiples of the block.
  const at::Tensor odd = mask_of(torch::randn({5, 7}), "4x16", 0.5);
  EXPECT_EQ(odd.sizes(), (std::vector<int64_t>{5, 7}));
}

TEST(Masks, GlobalScopeTakesTheSmallestOfAll) {
  const std::vector<at::Tensor> scores = {torch::ones({8, 16}), torch::full({8, 16}, 3.0F)};
  const auto pattern = convert::parse_zero_pattern("1x4");
  const auto all = masks_of(scores, pattern, 0.5, convert::PruneScope::kGlobal);
  EXPECT_EQ(zeros(all[0]), 1);
  EXPECT_EQ(zeros(all[1]), 0);
  for (const at::Tensor& mask : masks_of(scores, pattern, 0.5, convert::PruneScope::kUniform)) {
    EXPECT_EQ(zeros(mask), 0.5);
  }
}

TEST(Masks, RefuseUnknownPatterns) {
  for (const char* pattern : {"", "4", "x4", "1x", "0x4", "4:2", "1x4x4", "16x4", "heads"}) {
    EXPECT_THROW(convert::parse_zero_pattern(pattern), convert::Error) << pattern;
  }
}

}  // namespace
}  // namespace bantam::train
