// The CMake project of a firmware image: runtime, target, model and example, without anything to download.
#ifndef BANTAM_CONVERTER_FIRMWARE_PROJECT_H_
#define BANTAM_CONVERTER_FIRMWARE_PROJECT_H_

#include <string>
#include <string_view>
#include <vector>

#include "bantam/model.h"
#include "bantam/session.h"
#include "firmware/target.h"
#include "firmware/tree.h"
#include "pack/build.h"

namespace bantam::firmware {

struct Project {
  Target target;
  const convert::FileBytes& file;  // for the device; outlives the project
  Model model;                     // opened from `file`
  SessionOptions options;
  std::string source;  // the file's name as the user gave it, for the README
};

/// Returns all files of the project by path. The same input gives the same bytes.
Tree project_tree(const Project& project);

/// Returns the C array of --format c-array: its header, and a source file that includes the header as `header_name`.
std::string array_header(const std::string& symbol, size_t size);
std::string array_source(const std::string& header_name, const std::string& symbol, const convert::FileBytes& file);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_PROJECT_H_
