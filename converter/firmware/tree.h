// A directory of generated files that appears as a whole, and is replaced without touching other files.
#ifndef BANTAM_CONVERTER_FIRMWARE_TREE_H_
#define BANTAM_CONVERTER_FIRMWARE_TREE_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bantam::firmware {

/// Maps paths within the directory to contents.
using Tree = std::map<std::string, std::string>;

struct Written {
  size_t files = 0;  // written, or already identical
  /// Files that were changed since they were written here; they stay unchanged.
  std::vector<std::string> kept;
};

/// Writes `tree` to `directory`; files that begin with #! are executable. A new or empty directory is filled under a
/// temporary name and then renamed. A directory that contains files is refused without `force`. With it, only files
/// from an earlier call are replaced or, if they are no longer in `tree`, removed; the list `.bantam-firmware` has a
/// digest of each. Throws Error: usage if the directory must not be replaced or if another file is in the way, I/O.
Written write_tree(const std::filesystem::path& directory, const Tree& tree, bool force);

}  // namespace bantam::firmware

#endif  // BANTAM_CONVERTER_FIRMWARE_TREE_H_
