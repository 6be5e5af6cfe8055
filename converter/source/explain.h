// Explains why a name that the user gave is not a convertible model, and what to do: hub names, other formats,
// incomplete downloads.
#ifndef BANTAM_CONVERTER_SOURCE_EXPLAIN_H_
#define BANTAM_CONVERTER_SOURCE_EXPLAIN_H_

#include <filesystem>
#include <string>
#include <system_error>

#include "base/directory.h"

namespace bantam::convert {

/// Throws Error (kIo) for a path that does not exist, or that cannot be examined (`error`).
[[noreturn]] void refuse_missing(const std::filesystem::path& named, const std::error_code& error);

/// Throws Error (kIo) for a file that is not a source.
[[noreturn]] void refuse_file(const std::filesystem::path& named);

/// Throws Error (kInvalid) if the file is a Git LFS pointer that a download left in place of the data.
void refuse_pointer(const std::filesystem::path& file);

/// Returns advice for a folder of `files` without readable weights, as the second half of a message.
std::string other_weights(const Directory& files, const std::string& folder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_EXPLAIN_H_
