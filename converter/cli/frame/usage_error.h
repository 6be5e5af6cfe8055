// What a wrong use of the command line is answered with: the mistake, what was probably meant, and where to read on.
#ifndef BANTAM_CONVERTER_CLI_FRAME_USAGE_ERROR_H_
#define BANTAM_CONVERTER_CLI_FRAME_USAGE_ERROR_H_

#include <string>

#include "cli/frame/manual.h"
#include "cli/frame/parse.h"

namespace bantam::cli {

/// For a first word that is no command.
std::string unknown_command(const Manual& manual, const std::string& word);

/// For what did not parse.
std::string usage_error(const Manual& manual, const Parsed& parsed);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_USAGE_ERROR_H_
