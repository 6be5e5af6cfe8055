// Finds the file of an exported graph: named directly, or in a directory.
#ifndef BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_
#define BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_

#include <initializer_list>
#include <string>

#include "source/source_path.h"

namespace bantam::convert {

/// Returns the named file if it has the extension; else the first of `names` in a directory without other weights, else
/// its only file with the extension. The result is a name in `named.files`; "" if there is none.
std::string export_file(const SourcePath& named, const char* extension, std::initializer_list<const char*> names);

/// The path of that file for messages.
std::filesystem::path export_path(const SourcePath& named, const std::string& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_
