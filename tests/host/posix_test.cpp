// Tests that need named pipes and processor affinity.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>

#include "bantam/host.h"
#include "tests/host/folder.h"

namespace bantam::host {
namespace {

TEST_F(MappedFileTest, APipeIsNoFile) {
  MappedFile file;
  const char* reason = "";
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(file.open(pipe.c_str(), &reason), Status::kIo);
  EXPECT_STREQ(reason, "Is not a regular file");
}

TEST(Processors, AreThoseOfTheAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(processors(), 1u);
  EXPECT_LE(processors(), static_cast<uint32_t>(CPU_COUNT(&before)));
  int first = 0;
  while (!CPU_ISSET(static_cast<size_t>(first), &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(first), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(processors(), 1u);
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace bantam::host
