// How much work a test of many rounds does. Sanitizers and emulators make each step ten to twenty times slower, and
// find in some of the rounds what they would find in all; the release build runs all rounds.
#ifndef BANTAM_TESTS_EFFORT_H_
#define BANTAM_TESTS_EFFORT_H_

#include <cstddef>
#include <cstdlib>

namespace bantam::testing {

#if defined(BANTAM_SANITIZED) || defined(BANTAM_EMULATED)
constexpr bool kSlowed = true;
#else
constexpr bool kSlowed = false;
#endif

/// Returns `all`, or `few` if each round is slow.
template <typename T>
constexpr T rounds(T all, T few) {
  return kSlowed ? few : all;
}

/// Like rounds(), but also few if somebody waits: in `./dev test quick`, whose preset sets BANTAM_QUICK.
template <typename T>
T cases(T all, T few) {
  return std::getenv("BANTAM_QUICK") != nullptr ? few : rounds(all, few);
}

/// The size in bytes of a text for tests that processing time is proportional to size.
constexpr size_t kLongText = rounds(size_t{1} << 20, size_t{1} << 16);

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_EFFORT_H_
