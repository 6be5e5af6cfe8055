// Programs that lie beside the command and do one of its commands.
#ifndef BANTAM_CONVERTER_CLI_BESIDE_H_
#define BANTAM_CONVERTER_CLI_BESIDE_H_

#include <filesystem>

namespace bantam::cli {

/// Where the program `name` lies beside this one; empty where it does not.
std::filesystem::path beside(const char* name);

/// Replaces this process by it, with arguments as main got them. Returns where there is none.
void start_beside(const char* name, char** argv);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_BESIDE_H_
