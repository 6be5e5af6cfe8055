// fail: throws an Error with a formatted message.
#ifndef BANTAM_CONVERTER_BASE_FAIL_H_
#define BANTAM_CONVERTER_BASE_FAIL_H_

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace bantam::convert {

template <typename... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_FAIL_H_
