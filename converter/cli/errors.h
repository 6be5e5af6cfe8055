// How the command line fails: the converter's exception (problems and an exit code), and words for a Status.
#ifndef BANTAM_CONVERTER_CLI_ERRORS_H_
#define BANTAM_CONVERTER_CLI_ERRORS_H_

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "bantam/status.h"
#include "base/error.h"

namespace bantam::cli {

using convert::Error;
using convert::ExitCode;

/// The reader of standard output has gone (a pipe into `head`): the command ends without a word, exit 3.
struct ClosedPipe {};

template <typename... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// The exit code that a runtime status becomes.
ExitCode exit_code(Status status);

/// Throws for a status other than kOk: "`where`: message (next step)".
void check(Status status, std::string_view where);

/// "`path`: what, at `name`" for a file that Model::open or Session::create refused.
std::string describe(Status status, const Fault& fault);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_ERRORS_H_
