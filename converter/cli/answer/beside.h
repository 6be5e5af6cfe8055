// Programs in the same folder as the command that do the work of one of its commands.
#ifndef BANTAM_CONVERTER_CLI_BESIDE_H_
#define BANTAM_CONVERTER_CLI_BESIDE_H_

#include <filesystem>

namespace bantam::cli {

/// Returns the path of the program `name` if it is in the folder of this one; otherwise an empty path.
std::filesystem::path beside(const char* name);

/// Replaces this process by that program, with the arguments that main received. Returns if there is no such program.
void start_beside(const char* name, char** argv);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_BESIDE_H_
