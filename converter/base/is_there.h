// Tests whether a path exists.
#ifndef BANTAM_CONVERTER_BASE_IS_THERE_H_
#define BANTAM_CONVERTER_BASE_IS_THERE_H_

#include <filesystem>
#include <system_error>

namespace bantam::convert {

/// Returns true if `path` exists. Does not throw: a path that cannot be examined counts as absent.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_IS_THERE_H_
