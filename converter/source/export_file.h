// The file of an exported graph: named by itself, or in a directory.
#ifndef BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_
#define BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_

#include <initializer_list>
#include <string>

#include "source/source_path.h"

namespace bantam::convert {

/// The named file if it has the extension; else the first of `names` that a directory without other weights has, else
/// its one file with the extension. A name in `named.files`; "": there is none.
std::string export_file(const SourcePath& named, const char* extension, std::initializer_list<const char*> names);

/// The path of that file as messages call it.
std::filesystem::path export_path(const SourcePath& named, const std::string& file);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_
