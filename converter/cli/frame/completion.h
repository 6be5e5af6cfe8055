// Shell scripts, made from the declared options, that complete commands, options and their values.
#ifndef BANTAM_CONVERTER_CLI_FRAME_COMPLETION_H_
#define BANTAM_CONVERTER_CLI_FRAME_COMPLETION_H_

#include <string>

#include "cli/frame/manual.h"

namespace bantam::cli {

/// Requires bash 3.2 or later.
std::string bash_completion(const Manual& manual);
/// For zsh: install the script as the file _bantam in a folder of $fpath, or source it.
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_COMPLETION_H_
