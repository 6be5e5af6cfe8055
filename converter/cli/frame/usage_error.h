// The message for a usage error: the mistake, the probable intention, and the help to read.
#ifndef BANTAM_CONVERTER_CLI_FRAME_USAGE_ERROR_H_
#define BANTAM_CONVERTER_CLI_FRAME_USAGE_ERROR_H_

#include <string>

#include "cli/frame/command.h"
#include "cli/frame/manual.h"
#include "cli/frame/parse.h"

namespace bantam::cli {

/// The message for a first word that is not a command.
std::string unknown_command(const Manual& manual, const std::string& word);

/// The message for arguments that did not parse.
std::string usage_error(const Manual& manual, const Parsed& parsed);

/// Throws Error (usage), as for an option that every call requires: the option or argument is missing.
[[noreturn]] void fail_missing(const Command& command, const std::string& name);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_USAGE_ERROR_H_
