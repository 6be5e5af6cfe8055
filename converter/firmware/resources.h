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

/// The resource at `path`, or null.
const Resource* find_resource(std::string_view path);

/// `roots` and all that they include, transitively, in ascending order of path. A name in quotes or angle brackets is
/// looked for beside the including file, then in runtime/, runtime/include/ and generated/; what is not there belongs to
/// the compiler or is written by the command.
std::vector<const Resource*> with_includes(const std::vector<std::string>& roots);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_RESOURCES_H_
