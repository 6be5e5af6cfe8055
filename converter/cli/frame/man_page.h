// Manual pages (man(7) macros) from the declared options.
#ifndef BANTAM_CONVERTER_CLI_FRAME_MAN_PAGE_H_
#define BANTAM_CONVERTER_CLI_FRAME_MAN_PAGE_H_

#include <string>

#include "cli/frame/manual.h"

namespace bantam::cli {

/// bantam(1): the commands and exit codes.
std::string man_page(const Manual& manual, const std::string& version);

/// bantam-COMMAND(1).
std::string man_page(const Manual& manual, const CommandText& command, const std::string& version);

}  // namespace bantam::cli

#endif  // BANTAM_CONVERTER_CLI_FRAME_MAN_PAGE_H_
