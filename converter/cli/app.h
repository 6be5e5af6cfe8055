// Apps: programs that are one command on the model behind them (`bantam bundle`).
#ifndef BANTAM_CONVERTER_CLI_APP_H_
#define BANTAM_CONVERTER_CLI_APP_H_

#include <string>

#include "bantam/model.h"
#include "cli/frame/command.h"

namespace bantam::cli {

/// Adds the commands that an app may be.
void add_app_commands(Program& program);

/// The one that fits the file's task: "classify", "tag", "generate"; "run" where the answer has several parts.
std::string usual_command(const Model& model);

/// Makes `program` an app of add_app_commands(): `command` on the file `path`, with help that speaks of the program alone.
void become_app(Program& program, const std::string& command, const std::string& path);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_APP_H_
