// The memory that may be allocated for a source is proportional to the size of the source.
#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "base/error.h"

namespace bantam::convert {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(MemoryBudget, IsInProportionToTheSource) {
  MemoryBudget budget("file", 1000);
  EXPECT_EQ(budget.most(), MemoryBudget::kFree + 1000 * MemoryBudget::kTimes);
  budget.add_source(500);
  EXPECT_EQ(budget.most(), MemoryBudget::kFree + 1500 * MemoryBudget::kTimes);
  budget.take(budget.most(), "all");
  EXPECT_THROW(budget.take(1, "one more"), Error);
  budget.give_back(10);
  budget.take(2, 5, "ten");
  EXPECT_THROW(budget.take(1, 1, "one more"), Error);
  budget.take(0, kMost, "nothing");
}

TEST(MemoryBudget, DoesNotOverflow) {
  MemoryBudget budget("file", kMost);
  budget.add_source(kMost);
  EXPECT_GT(budget.most(), kMost / 2);
  EXPECT_THROW(budget.take(kMost, kMost, "much"), Error);
  MemoryBudget small("file", 1);
  EXPECT_THROW(small.take(kMost, "much"), Error);
  EXPECT_THROW(small.take(kMost / 2, 4, "much"), Error);
  EXPECT_EQ(small.taken(), 0U);
}

TEST(MemoryBudget, SaysWhatIsTooMuch) {
  try {
    MemoryBudget("model.onnx", 10).take(kMost, "its names");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUnsupported);
    EXPECT_NE(error.problems()[0].find("model.onnx: its names would take more memory"), std::string::npos)
        << error.problems()[0];
  }
}

TEST(MemoryBudget, GetsBackWhatAHolderTook) {
  const auto budget = std::make_shared<MemoryBudget>("file", 0);
  {
    Taken taken(budget);
    taken.take(100, "some");
    taken.give_back(30);
    EXPECT_EQ(budget->taken(), 70U);
    const Taken moved(std::move(taken));
    EXPECT_EQ(budget->taken(), 70U);
  }
  EXPECT_EQ(budget->taken(), 0U);
}

}  // namespace
}  // namespace bantam::convert
