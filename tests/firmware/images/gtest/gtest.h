// The part of GoogleTest that tests/kernels/*_cases.h use, for programs without an operating system. A failure prints
// its location and is counted.
#ifndef BANTAM_TESTS_FIRMWARE_IMAGES_GTEST_GTEST_H_
#define BANTAM_TESTS_FIRMWARE_IMAGES_GTEST_GTEST_H_

#include <math.h>

#include "console.h"

namespace testing {

inline uint32_t failures = 0;

/// Ignores what a test streams into an assertion.
struct Message {
  template <class T>
  Message& operator<<(const T&) {
    return *this;
  }
};

struct Failure {
  const char* file;
  uint32_t line;
  const char* what;
  void operator=(const Message&) const {
    ++failures;
    bantam::test::put(file);
    bantam::test::put(":");
    bantam::test::put_number(line);
    bantam::test::put(": ");
    bantam::test::put(what);
    bantam::test::put("\n");
  }
};

}  // namespace testing

#define BANTAM_FAILURE(what) ::testing::Failure{__FILE__, __LINE__, what} = ::testing::Message()
#define EXPECT_TRUE(x) \
  if (x) {             \
  } else               \
    BANTAM_FAILURE(#x)
#define ASSERT_TRUE(x) \
  if (x) {             \
  } else               \
    return BANTAM_FAILURE(#x)
#define EXPECT_EQ(a, b) EXPECT_TRUE((a) == (b))
#define ASSERT_EQ(a, b) ASSERT_TRUE((a) == (b))
#define ASSERT_LE(a, b) ASSERT_TRUE((a) <= (b))
#define ASSERT_NEAR(a, b, error) ASSERT_TRUE(fabs((a) - (b)) <= (error))

#endif  // BANTAM_TESTS_FIRMWARE_IMAGES_GTEST_GTEST_H_
