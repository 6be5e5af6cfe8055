// Tests the table of tasks (model/tasks.inc) and the functions that query it.
#include "model/task_traits.h"

#include <gtest/gtest.h>

#include "model/heads.h"

namespace bantam {
namespace {

TEST(TaskTraits, PartsSayWhichTasksHaveThem) {
  for (const fb::TaskKind kind : fb::EnumValuesTaskKind()) {
    const uint32_t bit = 1u << static_cast<uint32_t>(kind);
    for (uint32_t part = 1; part <= kNextWordsPart; part *= 2) {
      const bool has = (traits(kind).parts & part) != 0;
      EXPECT_EQ((tasks_with(part) & bit) != 0, has) << fb::EnumNameTaskKind(kind);
      EXPECT_EQ(has_part(static_cast<TaskKind>(kind), part), has);
    }
    EXPECT_NE(tasks_scored(traits(kind).scores) & bit, 0u) << fb::EnumNameTaskKind(kind);
  }
}

TEST(TaskTraits, EveryPartHasAHead) {
  const auto tasks = [](std::initializer_list<const Head*> heads) {
    uint32_t bits = 0;
    for (const Head* head : heads) bits |= head->tasks;
    return bits;
  };
  EXPECT_EQ(tasks({&kLabelHead}), tasks_with(kLabelsPart));
  EXPECT_EQ(tasks({&kTagHead, &kSlotHead}), tasks_with(kWordsPart));
  EXPECT_EQ(kTagHead.tasks & kSlotHead.tasks, 0u);
  EXPECT_EQ(tasks({&kStartHead, &kEndHead, &kUnanswerableHead}), tasks_with(kSpanPart));
  EXPECT_EQ(tasks({&kFillHead}), tasks_with(kMasksPart));
  EXPECT_EQ(tasks({&kEmbeddingHead}), tasks_with(kVectorPart));
  EXPECT_EQ(tasks({&kTokenVectorHead}), tasks_with(kTokenVectorsPart));
  EXPECT_EQ(tasks({&kNextWordHead}), tasks_with(kNextWordsPart));
  EXPECT_EQ(tasks({&kChoiceHead}), tasks_with(kChoicePart));
  EXPECT_EQ(tasks({&kNextHead}), tasks_with(kFollowsPart));
}

TEST(TaskTraits, ANumberThatIsNoTaskHasNothing) {
  const auto beyond = static_cast<TaskKind>(static_cast<uint32_t>(fb::TaskKind::MAX) + 1);
  EXPECT_EQ(traits(beyond).parts, 0u);
  EXPECT_FALSE(has_part(beyond, ~0u));
}

}  // namespace
}  // namespace bantam
