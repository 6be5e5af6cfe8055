// runtime/linked.h with a hundred additional rows in ops.inc: sets of any size, and answers from the names of a header.
#include "linked.h"

#include <gtest/gtest.h>

#include <set>

namespace bantam::testing {
namespace {

static_assert(linked::kOps > 100 && !linked::kEveryOp && !linked::kStatic);

TEST(Links, OperatorsBeyondAWord) {
  std::set<uint32_t> rows;
  for (uint32_t row = 0; row < linked::kOps; ++row) {
    if (linked::op(row)) rows.insert(row);
  }
  EXPECT_EQ(rows, (std::set<uint32_t>{linked::kOpLinear, linked::kOpScratch40, linked::kOpScratch100}));
  EXPECT_GE(linked::kOpScratch40, 64u);
  EXPECT_TRUE(linked::is(linked::links::op_Scratch100));
  EXPECT_FALSE(linked::is(linked::links::op_Scratch99));
  EXPECT_TRUE(linked::any_op(linked::dynamic));
  EXPECT_EQ(linked::Kernels::of(linked::kOpScratch100), linked::Kernels::span_scores | linked::Kernels::pool_rows);
}

TEST(Links, MembersOfSets) {
  std::set<uint32_t> masks, norms, pools;
  for (uint32_t i = 0; i < linked::links::size_of(linked::links::mask_all); ++i) {
    if (linked::mask(i)) masks.insert(i);
  }
  for (uint32_t i = 0; i < linked::links::size_of(linked::links::norm_all); ++i) {
    if (linked::norm(i)) norms.insert(i);
  }
  for (uint32_t i = 0; i < linked::links::size_of(linked::links::pool_all); ++i) {
    if (linked::pool(i)) pools.insert(i);
  }
  EXPECT_EQ(masks, (std::set<uint32_t>{0, 2, 7, 8}));  // every build has the first
  EXPECT_EQ(norms, (std::set<uint32_t>{0, 1, 2, 3}));
  EXPECT_TRUE(pools.empty());
}

TEST(Links, CodeOfMasks) {
  EXPECT_TRUE(linked::kMasks && linked::kGlobals && linked::kKeyLists && linked::kPageLists && linked::kBias);
  EXPECT_FALSE(linked::kBlocks || linked::kFillers || linked::kPrefix || linked::kSegmentMasks);
}

TEST(Links, NothingWithoutWhatItNeeds) {
  EXPECT_TRUE(linked::kRotary);
  EXPECT_FALSE(linked::kMarked);  // without Marks
  EXPECT_FALSE(linked::kChunks);  // without Sources
  EXPECT_FALSE(linked::kTokenizer || linked::kFloat || linked::kTerms || linked::kFaultText);
}

}  // namespace
}  // namespace bantam::testing
