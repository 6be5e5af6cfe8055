// The frame that every program of the command line shares. It parses the arguments, calls one command, and turns every
// failure into a message and an exit code.
#ifndef BANTAM_CONVERTER_CLI_FRAME_PROGRAM_H_
#define BANTAM_CONVERTER_CLI_FRAME_PROGRAM_H_

#include <functional>
#include <string>

#include "cli/frame/command.h"

namespace bantam::cli {

/// A paragraph of the help.
extern const char* const kExitCodes;

/// Runs the program and returns its exit status. `add` adds the commands, and may declare one as the program's only
/// command (Program::single). `name`: the program's name in messages.
int run_program(int argc, char** argv, const std::function<void(Program&)>& add, const std::string& name = "bantam");

/// Prints the help of `command`, with its usual options or with all of them; for an empty name, the list of commands.
/// Throws for an unknown command.
void show_help(const Program& program, const std::string& command, bool all);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_PROGRAM_H_
