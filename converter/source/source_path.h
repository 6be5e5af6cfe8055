// SourcePath: the path that the user named as a model, before its format is known.
#ifndef BANTAM_CONVERTER_SOURCE_SOURCE_PATH_H_
#define BANTAM_CONVERTER_SOURCE_SOURCE_PATH_H_

#include <filesystem>
#include <memory>
#include <string>

#include "base/directory.h"

namespace bantam::convert {

struct SourcePath {
  /// Throws Error (kIo) if the path does not exist or cannot be examined.
  explicit SourcePath(const std::filesystem::path& named);

  std::filesystem::path path;              // as the user named it
  std::shared_ptr<const Directory> files;  // the folder that was named, or that of the named file
  std::string file;                        // name of the named file in `files`; "" if a folder was named

  bool is_folder() const { return file.empty(); }
  /// Returns true if a regular file was named. A pipe or a device counts neither as a file nor as a folder.
  bool is_file() const { return !file.empty() && files->has_file(file); }
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SOURCE_PATH_H_
