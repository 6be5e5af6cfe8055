// Apps: programs that run one command on the model appended to them (`bantam bundle`).
#ifndef BANTAM_CONVERTER_CLI_APP_H_
#define BANTAM_CONVERTER_CLI_APP_H_

#include <string>

#include "bantam/model.h"
#include "cli/frame/command.h"

namespace bantam::cli {

/// Adds the commands that an app can run.
void add_app_commands(Program& program);

/// Returns the command that fits the file's task: "classify", "tag", "generate", ..., or "run" if the answer has
/// several parts.
std::string usual_command(const Model& model);

/// Makes `program` an app that runs `command`, one of add_app_commands(), on the file `path`; its help describes this
/// program alone.
void become_app(Program& program, const std::string& command, const std::string& path);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_APP_H_
