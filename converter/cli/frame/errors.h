// How the command line fails: the converter's exception (problems and an exit code), and texts for each Status.
#ifndef BANTAM_CONVERTER_CLI_FRAME_ERRORS_H_
#define BANTAM_CONVERTER_CLI_FRAME_ERRORS_H_

#include <fmt/format.h>

#include "base/status_error.h"

namespace bantam::cli {

using convert::check;
using convert::describe;
using convert::Error;
using convert::exit_code;
using convert::ExitCode;
using convert::fail;

/// The reader of standard output is gone, as with a pipe into `head`: the command ends without a message, exit code 3.
struct ClosedPipe {};

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_ERRORS_H_
