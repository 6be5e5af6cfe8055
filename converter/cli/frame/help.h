// Help as text: the list of commands, and the options and examples of one command.
#ifndef BANTAM_CONVERTER_CLI_FRAME_HELP_H_
#define BANTAM_CONVERTER_CLI_FRAME_HELP_H_

#include <string>

#include "cli/frame/manual.h"

namespace bantam::cli {

/// Lines have at most `width` columns (at least 60), unless a single word is longer.
std::string overview(const Manual& manual, size_t width);
/// `all`: prints all options and notes; otherwise only the usual options, if the command declares them.
std::string command_help(const Manual& manual, const CommandText& command, size_t width, bool all);

/// "bantam convert SRC -o FILE [OPTIONS]".
std::string usage_of(const Manual& manual, const CommandText& command);

/// Returns an option's names and value, "-o, --output FILE", as printed before its description.
std::string spelling_of(const OptionText& option);

/// Wraps `text` to lines of at most `width` columns, each indented by `indent` spaces. If `started` columns of the
/// first line are already used, that line is not indented.
std::string wrap(const std::string& text, size_t width, size_t indent, size_t started = 0);

/// Wraps a command line to at most `width` columns, with a backslash at the end of each line but the last, so it still
/// runs.
std::string wrap_command(const std::string& line, size_t width, size_t indent);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_HELP_H_
