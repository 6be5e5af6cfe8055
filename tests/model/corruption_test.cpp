// Damaged graph sections: nothing crashes, whatever open returns, and files that it accepts also run.
#include <gtest/gtest.h>

#include <random>

#include "tests/session/bert.h"
#include "tests/session/exercise.h"

namespace bantam::testing::corruption_test {
namespace {

class Corruption : public ::testing::Test {
 protected:
  Corruption() {
    BertShape shape;
    shape.layers = 2;
    shape.hidden = 16;
    shape.heads = 2;
    shape.ffn = 16;
    shape.vocabulary = 30;
    shape.positions = 16;
    const std::vector<uint8_t> bytes = build(random_bert(shape, 2), WeightType::kI8).finish();
    file_ = FileBytes(bytes);
    graph_end_ = 0;
    for (int i = 7; i >= 0; --i) graph_end_ = graph_end_ << 8 | bytes[32 + static_cast<size_t>(i)];
    graph_end_ += 64;
    EXPECT_EQ(exercise(file_.data(), file_.size(), &arena_), Status::kOk);
  }

  FileBytes file_;
  size_t graph_end_;
  std::vector<uint8_t> arena_;
};

TEST_F(Corruption, OneBitOfEveryByte) {
  size_t refused = 0;
  for (size_t i = 0; i < graph_end_; ++i) {
    const uint8_t before = file_.data()[i];
    file_.data()[i] = static_cast<uint8_t>(before ^ (1u << (i * 5 % 8)));
    refused += exercise(file_.data(), file_.size(), &arena_) != Status::kOk;
    file_.data()[i] = before;
  }
  // Names, scores and report fields may change unnoticed; most of the rest may not.
  EXPECT_GT(refused, graph_end_ / 8);
}

TEST_F(Corruption, EveryByteAllOnes) {
  for (size_t i = 0; i < graph_end_; ++i) {
    const uint8_t before = file_.data()[i];
    file_.data()[i] = 0xFF;
    exercise(file_.data(), file_.size(), &arena_);
    file_.data()[i] = before;
  }
}

TEST_F(Corruption, WordsReplaced) {
  std::mt19937 random(5);
  constexpr uint32_t kWords[] = {0, 1, 2, 15, 16, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, 0x10000};
  for (size_t i = 64; i + 4 <= graph_end_; i += 4) {
    const std::vector<uint8_t> before(file_.data() + i, file_.data() + i + 4);
    const uint32_t word = kWords[random() % std::size(kWords)];
    for (size_t b = 0; b < 4; ++b) file_.data()[i + b] = static_cast<uint8_t>(word >> (8 * b));
    exercise(file_.data(), file_.size(), &arena_);
    std::copy(before.begin(), before.end(), file_.data() + i);
  }
}

TEST_F(Corruption, DamagedWeightsOnlyChangeNumbers) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    FileBytes damaged(std::vector<uint8_t>(file_.data(), file_.data() + file_.size()));
    for (int i = 0; i < 50; ++i) {
      damaged.data()[graph_end_ + random() % (damaged.size() - graph_end_)] = static_cast<uint8_t>(random());
    }
    EXPECT_EQ(exercise(damaged.data(), damaged.size(), &arena_), Status::kOk);
  }
}

}  // namespace
}  // namespace bantam::testing::corruption_test
