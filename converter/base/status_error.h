// Messages and exit codes for the runtime's Status.
#ifndef BANTAM_CONVERTER_BASE_STATUS_ERROR_H_
#define BANTAM_CONVERTER_BASE_STATUS_ERROR_H_

#include <string>
#include <string_view>

#include "bantam/status.h"
#include "base/fail.h"

namespace bantam::convert {

/// The exit code for a runtime status.
ExitCode exit_code(Status status);

/// Throws for a status other than kOk: "`where`: message (next step)".
void check(Status status, std::string_view where);

/// "`path`: what, at `name`" for a file that Model::open or Session::create refused.
std::string describe(Status status, const Fault& fault);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_STATUS_ERROR_H_
