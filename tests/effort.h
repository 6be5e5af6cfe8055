// How much a test of many rounds does. A sanitizer or an emulator makes each step ten to twenty times as long and finds in
// some of the rounds what it finds in all: the release build does them all.
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

/// `all`, or `few` where each takes long.
template <typename T>
constexpr T rounds(T all, T few) {
  return kSlowed ? few : all;
}

/// The same where somebody waits, too: in `./dev test quick`, whose preset sets BANTAM_QUICK.
template <typename T>
T cases(T all, T few) {
  return std::getenv("BANTAM_QUICK") != nullptr ? few : rounds(all, few);
}

/// Bytes of a text that is to take time in proportion to them.
constexpr size_t kLongText = rounds(size_t{1} << 20, size_t{1} << 16);

}  // namespace bantam::testing

#endif  // BANTAM_TESTS_EFFORT_H_
