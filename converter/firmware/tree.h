// A directory of generated files that appears whole, and is replaced without touching what is somebody else's.
#ifndef BANTAM_CONVERTER_FIRMWARE_TREE_H_
#define BANTAM_CONVERTER_FIRMWARE_TREE_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bantam::firmware {

/// Path within the directory to contents.
using Tree = std::map<std::string, std::string>;

struct Written {
  size_t files = 0;  // written or already the same
  /// Files that somebody has changed since they were written here; they stay as they are.
  std::vector<std::string> kept;
};

/// Writes `tree` to `directory`; what begins with #! can be executed. A new or empty one is filled beside its place and renamed to it. One that holds something
/// is refused without `force`; with it, only what an earlier call wrote is replaced or, when it is not in `tree` any more,
/// removed: the list `.bantam-firmware` with a digest of each file tells. Throws Error: usage for a directory that is not
/// to be replaced or a foreign file in the way, I/O.
Written write_tree(const std::filesystem::path& directory, const Tree& tree, bool force);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_TREE_H_
