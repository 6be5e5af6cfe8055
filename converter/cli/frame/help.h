// Help as text: the list of commands, and one command's options and examples.
#ifndef BANTAM_CONVERTER_CLI_FRAME_HELP_H_
#define BANTAM_CONVERTER_CLI_FRAME_HELP_H_

#include <string>

#include "cli/frame/manual.h"

namespace bantam::cli {

/// No line is longer than `width` columns (at least 60), unless one word is.
std::string overview(const Manual& manual, size_t width);
/// `all`: with all options and notes; else with the usual ones, where the command says which these are.
std::string command_help(const Manual& manual, const CommandText& command, size_t width, bool all);

/// "bantam convert SRC -o FILE [OPTIONS]".
std::string usage_of(const Manual& manual, const CommandText& command);

/// "-o, --output FILE", as it stands before an option's text.
std::string spelling_of(const OptionText& option);

/// `text` in lines of at most `width` columns, each after `indent` spaces; the first lacks them when `started` columns of
/// its line are taken.
std::string wrap(const std::string& text, size_t width, size_t indent, size_t started = 0);

/// A command line in lines of at most `width` columns, each but the last with a backslash at its end: it still runs.
std::string wrap_command(const std::string& line, size_t width, size_t indent);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_HELP_H_
