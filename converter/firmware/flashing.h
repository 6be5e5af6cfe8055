// How the image of a project gets onto its board, in the words of the project's README.md.
#ifndef BANTAM_CONVERTER_FIRMWARE_FLASHING_H_
#define BANTAM_CONVERTER_FIRMWARE_FLASHING_H_

#include <string>

#include "firmware/target.h"

namespace bantam::firmware {

/// Returns the items of a Markdown list: what the board takes, one for each tool that knows it, and its serial port.
std::string flashing_list(const Target& target);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_FLASHING_H_
