#include "source/source_path.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/error.h"
#include "source/explain.h"

namespace bantam::convert {

SourcePath::SourcePath(const std::filesystem::path& named)
    : path(named), files(std::make_shared<const Directory>(named)) {
  const std::error_code error = files->error();
  // A folder that cannot be listed may contain a model whose files can be read.
  if (!error || error == std::errc::permission_denied) return;
  if (error == std::errc::no_such_file_or_directory) refuse_missing(named, error);
  if (error != std::errc::not_a_directory) {
    throw Error(ExitCode::kIo, fmt::format("{}: {}", named.string(), error.message()));
  }
  files = std::make_shared<const Directory>(named.has_parent_path() ? named.parent_path() : ".");
  file = named.filename().string();
  if (!files->has(file)) refuse_missing(named, error);
}

}  // namespace bantam::convert
