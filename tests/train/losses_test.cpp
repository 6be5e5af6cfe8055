#include "train/losses.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bantam::train {
namespace {

AttentionState state(const at::Tensor& q) { return {q, q * 0.5, q * 2, (q.matmul(q.transpose(2, 3))).softmax(-1)}; }

Anchors all_rows(int64_t batch, int64_t rows) {
  const at::Tensor index = torch::arange(rows).expand({batch, rows}).contiguous();
  return {index, index, torch::ones({batch, rows}, torch::kBool)};
}

TEST(SoftLoss, IsTheDivergenceTimesTheSquaredTemperature) {
  const at::Tensor student = torch::tensor({{0.0F, 0.0F}}), teacher = torch::tensor({{2.0F, 0.0F}});
  const double t = 2, p = 1 / (1 + std::exp(-1.0));
  const double wanted = t * t * (p * std::log(p / 0.5) + (1 - p) * std::log((1 - p) / 0.5));
  EXPECT_NEAR(soft_loss(student, teacher, t).item<double>(), wanted, 1e-6);
  EXPECT_NEAR(soft_loss(teacher, teacher, t).item<double>(), 0, 1e-7);
  EXPECT_EQ(soft_loss(torch::empty({0, 3}), torch::empty({0, 3}), t).item<double>(), 0);
}

TEST(SoftLoss, OfIndependentLabelsIsLeastAtTheTeacher) {
  const at::Tensor teacher = torch::tensor({{2.0F, -1.0F, 0.3F}});
  EXPECT_NEAR(soft_binary_loss(teacher, teacher, 2).item<double>(), 0, 1e-6);
  EXPECT_GT(soft_binary_loss(teacher + 0.5, teacher, 2).item<double>(), 1e-3);
}

TEST(Align, UsesWordsWhereTokensDiffer) {
  Encoded student, teacher;
  student.ids = {2, 10, 11, 12, 3};  // the second word has two pieces
  student.words = {1, 2, kNoRow};
  teacher.ids = {2, 20, 21, 3};
  teacher.words = {1, 2, 3};
  const Anchors words = align({&student}, {&teacher});
  EXPECT_TRUE(torch::equal(words.student, torch::tensor({{0, 1, 2}}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(words.teacher, torch::tensor({{0, 1, 2}}, torch::kInt64)));
  EXPECT_EQ(words.mask.sum().item<int64_t>(), 3);
  const Anchors same = align({&teacher}, {&teacher});
  EXPECT_EQ(same.mask.sum().item<int64_t>(), 4);
}

TEST(InsideLosses, AreZeroForEqualNetworksAndNotOtherwise) {
  torch::manual_seed(1);
  const at::Tensor q = torch::randn({2, 3, 5, 4});
  const Anchors anchors = all_rows(2, 5);
  EXPECT_NEAR(attention_loss(state(q), state(q), anchors).item<double>(), 0, 1e-6);
  EXPECT_NEAR(relation_loss(state(q), state(q), anchors, 6).item<double>(), 0, 1e-6);
  const at::Tensor other = torch::randn({2, 3, 5, 4});
  EXPECT_GT(attention_loss(state(q), state(other), anchors).item<double>(), 1e-3);
  EXPECT_GT(relation_loss(state(q), state(other), anchors, 6).item<double>(), 1e-3);
  const at::Tensor hidden = torch::randn({2, 5, 12});
  EXPECT_EQ(hidden_loss(hidden, hidden, anchors, {}).item<double>(), 0);
  EXPECT_NEAR(hidden_loss(hidden, hidden * 3, anchors, torch::eye(12) * 3).item<double>(), 0, 1e-10);
}

TEST(InsideLosses, PaddingHasNoSay) {
  torch::manual_seed(1);
  const at::Tensor q = torch::randn({2, 3, 5, 4}), t = torch::randn({2, 3, 5, 4});
  Anchors anchors = all_rows(2, 5);
  anchors.mask[1].narrow(0, 3, 2).fill_(false);
  const double before = relation_loss(state(q), state(t), anchors, 3).item<double>();
  const double hidden = hidden_loss(q[0], t[0], all_rows(3, 5), {}).item<double>();
  EXPECT_GT(hidden, 0);
  at::Tensor changed = q.clone();
  changed[1].narrow(1, 3, 2).fill_(7.0);
  EXPECT_NEAR(relation_loss(state(changed), state(t), anchors, 3).item<double>(), before, 1e-6);
}

}  // namespace
}  // namespace bantam::train
