// Tells whether tests try every possible value (`BANTAM_EXHAUSTIVE=1`, which `./dev test all` sets) or a dense sample.
#ifndef BANTAM_TESTS_EXHAUSTIVE_H_
#define BANTAM_TESTS_EXHAUSTIVE_H_

#include <cstdlib>

namespace bantam::testing {

inline bool exhaustive() {
  const char* wanted = std::getenv("BANTAM_EXHAUSTIVE");
  return wanted != nullptr && *wanted != 0;
}

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_EXHAUSTIVE_H_
