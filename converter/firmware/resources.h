// What a firmware project is made of, inside the command: it needs no checkout of bantam beside it.
#ifndef BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_
#define BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_

#include <string>
#include <string_view>
#include <vector>

namespace bantam::firmware {

struct Resource {
  /// As in this repository: "runtime/model/model.cpp"; what the build makes or finds outside: "generated/...".
  std::string_view path;
  std::string_view text;
};

/// All of them, in ascending order of path. resources.cmake says which files they are.
const std::vector<Resource>& resources();

/// "runtime/model/" of "runtime/model/model.cpp"; empty without a folder.
std::string_view folder_of(std::string_view path);

/// The resource at `path`, or null.
const Resource* find_resource(std::string_view path);

/// The resources that `text`, of the file at `path`, includes. A name in quotes or angle brackets is looked for beside the including
/// file, then in runtime/, runtime/include/, generated/ and targets/firmware/; what is not there belongs to the compiler or is written
/// by the command.
std::vector<const Resource*> included(std::string_view text, std::string_view path);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_
