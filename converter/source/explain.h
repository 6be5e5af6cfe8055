// What people name that is no model which can be converted, and what to do about it: hub names, other formats, incomplete
// downloads.
#ifndef BANTAM_CONVERTER_SOURCE_EXPLAIN_H_
#define BANTAM_CONVERTER_SOURCE_EXPLAIN_H_

#include <filesystem>
#include <string>

namespace bantam::convert {

/// Throws Error (kIo) where `named` is no directory, and (kInvalid, kUnsupported) for directories that are known to hold
/// something else than a model: adapters, folders of the hub's cache.
void check_directory(const std::filesystem::path& named);

/// Throws Error (kInvalid) where a download left Git LFS's description of a file in its place.
void refuse_pointer(const std::filesystem::path& file);

/// What to do about a directory without weights that can be read, as the second half of a message.
std::string other_weights(const std::filesystem::path& directory);

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_SOURCE_EXPLAIN_H_
