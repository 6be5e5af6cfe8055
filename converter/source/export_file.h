// The file of an exported graph in a directory.
#ifndef BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_
#define BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_

#include <filesystem>
#include <initializer_list>

namespace bantam::convert {

/// The first of `names` that a directory without other weights has, else its one file with the extension; "": there is none.
std::filesystem::path export_file(const std::filesystem::path& directory, const char* extension,
                                  std::initializer_list<const char*> names);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_EXPORT_FILE_H_
