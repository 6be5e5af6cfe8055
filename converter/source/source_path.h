// SourcePath: what the user named as a model, before anything knows what kind of source it is.
#ifndef BANTAM_CONVERTER_SOURCE_SOURCE_PATH_H_
#define BANTAM_CONVERTER_SOURCE_SOURCE_PATH_H_

#include <filesystem>
#include <memory>
#include <string>

#include "base/directory.h"

namespace bantam::convert {

struct SourcePath {
  /// Throws Error (kIo) where nothing is there, or it cannot be looked at.
  explicit SourcePath(const std::filesystem::path& named);

  std::filesystem::path path;              // as the user named it
  std::shared_ptr<const Directory> files;  // the folder that was named, or the one that the named file lies in
  std::string file;                        // the name in `files` of the file that was named; "": a folder was

  bool is_folder() const { return file.empty(); }
  /// Was a regular file named? A pipe or a device is neither file nor folder here.
  bool is_file() const { return !file.empty() && files->has_file(file); }
};

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_SOURCE_PATH_H_
