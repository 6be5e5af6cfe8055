// The sources of a firmware project, embedded in the command, which therefore needs no checkout of bantam.
#ifndef BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_
#define BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_

#include <string>
#include <string_view>
#include <vector>

namespace bantam::firmware {

struct Resource {
  /// The path in this repository, such as "runtime/model/model.cpp"; "generated/..." for files that the build generates
  /// or finds elsewhere.
  std::string_view path;
  std::string_view text;
};

/// Returns all resources in ascending order of path. resources.cmake lists the files.
const std::vector<Resource>& resources();

/// Returns the paths alone, in the order of resources.cmake. Does not unpack the files, which takes milliseconds.
std::vector<std::string_view> resource_paths();

/// Returns "runtime/model/" for "runtime/model/model.cpp"; empty if there is no folder.
std::string_view folder_of(std::string_view path);

/// Returns the resource at `path`, or null.
const Resource* find_resource(std::string_view path);

/// Returns the resources that `text`, from the file at `path`, includes. Looks for a name in quotes or angle brackets
/// beside the including file, then in runtime/, runtime/include/, generated/ and targets/firmware/. Other names belong
/// to the compiler, or are files that the command generates.
std::vector<const Resource*> included(std::string_view text, std::string_view path);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_
