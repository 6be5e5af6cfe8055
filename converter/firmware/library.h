// A model and the runtime as a library for other build systems: one folder of sources, and the files that each system
// needs.
#ifndef BANTAM_CONVERTER_FIRMWARE_LIBRARY_H_
#define BANTAM_CONVERTER_FIRMWARE_LIBRARY_H_

#include <string>
#include <vector>

#include "firmware/project.h"
#include "firmware/tree.h"

namespace bantam::firmware {

/// Returns the folders of targets/firmware/formats in ascending order: "arduino", "cmake", ...
std::vector<std::string> library_formats();

/// Returns all files by path. src/ is the same in every format; the other files are made from the format's templates
/// (targets/firmware/README.md). The same input gives the same bytes. `version`: bantam's version.
Tree library_tree(const Project& project, const std::string& format, const std::string& version);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_LIBRARY_H_
