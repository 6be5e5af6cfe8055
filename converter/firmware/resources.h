// The sources of a firmware project, embedded in the command, so that it needs no checkout of bantam.
#ifndef BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_
#define BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_

#include <string>
#include <string_view>
#include <vector>

namespace bantam::firmware {

struct Resource {
  /// The path in this repository: "runtime/model/model.cpp"; "generated/..." for files that the build makes or finds
  /// outside.
  std::string_view path;
  std::string_view text;
};

/// All resources, in ascending order of path. resources.cmake lists the files.
const std::vector<Resource>& resources();

/// Returns "runtime/model/" for "runtime/model/model.cpp"; empty if there is no folder.
std::string_view folder_of(std::string_view path);

/// The resource at `path`, or null.
const Resource* find_resource(std::string_view path);

/// Returns the resources that `text`, from the file at `path`, includes. Looks for a name in quotes or angle brackets
/// beside the including file, then in runtime/, runtime/include/, generated/ and targets/firmware/; other names belong
/// to the compiler, or the command writes them.
std::vector<const Resource*> included(std::string_view text, std::string_view path);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_
