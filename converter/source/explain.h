// What people name that is no model which can be converted, and what to do about it: hub names, other formats, incomplete
// downloads.
#ifndef BANTAM_CONVERTER_SOURCE_EXPLAIN_H_
#define BANTAM_CONVERTER_SOURCE_EXPLAIN_H_

#include <filesystem>
#include <string>
#include <system_error>

#include "base/directory.h"

namespace bantam::convert {

/// Throws Error (kIo) for a path that leads nowhere, or that may not be looked at (`error`).
[[noreturn]] void refuse_missing(const std::filesystem::path& named, const std::error_code& error);

/// Throws Error (kIo) for a file that is no source.
[[noreturn]] void refuse_file(const std::filesystem::path& named);

/// Throws Error (kInvalid) where a download left Git LFS's description of a file in its place.
void refuse_pointer(const std::filesystem::path& file);

/// What to do about a folder of `files` without weights that can be read, as the second half of a message.
std::string other_weights(const Directory& files, const std::string& folder);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_EXPLAIN_H_
