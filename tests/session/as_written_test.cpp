// Compiled as the runtime is; contracted.cpp is compiled as it must not be.
#include "session/as_written.h"

#include <gtest/gtest.h>

#include "tests/session/contracted.h"

namespace bantam {
namespace {

TEST(AsWritten, ThisBuildDoesNotContract) { EXPECT_TRUE(computes_as_written()); }

TEST(AsWritten, ContractionIsFound) {
  if (!has_fma()) GTEST_SKIP() << "this machine or compiler has no fma";
  EXPECT_FALSE(computes_as_written_when_contracted());
}

}  // namespace
}  // namespace bantam
