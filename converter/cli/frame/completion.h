// Scripts that complete commands, options and their values in a shell, from the declared options.
#ifndef BANTAM_CONVERTER_CLI_FRAME_COMPLETION_H_
#define BANTAM_CONVERTER_CLI_FRAME_COMPLETION_H_

#include <string>

#include "cli/frame/manual.h"

namespace bantam::cli {

/// For bash 3.2 and later.
std::string bash_completion(const Manual& manual);
/// For zsh, as a file _bantam in a folder of $fpath, or to be sourced.
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_COMPLETION_H_
