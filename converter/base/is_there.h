// Whether a path leads anywhere.
#ifndef BANTAM_CONVERTER_BASE_IS_THERE_H_
#define BANTAM_CONVERTER_BASE_IS_THERE_H_

#include <filesystem>
#include <system_error>

namespace bantam::convert {

/// Does not throw: what cannot be looked at is not there.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_BASE_IS_THERE_H_
