// How the command line fails: one exception type with an exit code, and the text for a runtime Status.
#ifndef BANTAM_CONVERTER_CLI_ERRORS_H_
#define BANTAM_CONVERTER_CLI_ERRORS_H_

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bantam/status.h"

namespace bantam::cli {

enum class ExitCode : int {
  kSuccess = 0,
  kUsage = 2,
  kIo = 3,
  kInvalid = 4,
  kUnsupported = 5,
  kGate = 6,
  kResources = 7,
  kInternal = 70,
  kInterrupted = 130
};

/// A failure that the user can act on. `what()` names the file or option, the cause and the next step; an
/// empty message means that everything has been said already.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

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
