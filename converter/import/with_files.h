// with_files: converts file system failures to the converter's Error.
#ifndef BANTAM_CONVERTER_IMPORT_WITH_FILES_H_
#define BANTAM_CONVERTER_IMPORT_WITH_FILES_H_

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"

namespace bantam::convert {

/// Runs `work`; a file system error becomes an Error.
template <typename Work>
auto with_files(const Work& work) {
  try {
    return work();
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(ExitCode::kIo, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  }
}

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_IMPORT_WITH_FILES_H_
