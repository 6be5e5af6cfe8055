#include "base/suggest.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/known_keys.h"

namespace bantam::convert {
namespace {

namespace fs = std::filesystem;

/// The .bantam file in the same directory whose name is most similar to that of `wanted`; empty if none is similar.
std::string similar_file(const fs::path& wanted) {
  const fs::path directory = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> stems;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".bantam" && it->path() != directory / wanted.filename()) {
      stems.push_back(it->path().stem().string());
    }
  }
  const bool whole = wanted.extension() == ".bantam";
  const std::string stem = nearest((whole ? wanted.stem() : wanted.filename()).string(), stems);
  if (stem.empty()) return "";
  return wanted.has_parent_path() ? (directory / (stem + ".bantam")).string() : stem + ".bantam";
}

}  // namespace

std::string explain_unopened(const std::string& path, const std::string& reason) {
  const fs::path wanted(path);
  std::error_code error;
  if (fs::is_directory(wanted, error)) {
    return fs::exists(wanted / "config.json", error)
               ? fmt::format("is a directory; convert it first: bantam convert {} -o FILE.bantam", path)
               : "is a directory, not a .bantam file; bantam convert makes one of a model's directory";
  }
  if (fs::exists(wanted, error)) {
    if (reason == std::strerror(ENOMEM)) return reason + "; the file is larger than the memory that is left";
    return reason + (reason == std::strerror(EACCES) ? "; check its permissions" : "; name a .bantam file");
  }
  if (fs::is_symlink(wanted, error)) {
    return fmt::format("is a link to {}, which does not exist", fs::read_symlink(wanted, error).string());
  }
  const std::string other = similar_file(wanted);
  return other.empty() ? reason + "; check the path" : fmt::format("{}; did you mean {}?", reason, other);
}

}  // namespace bantam::convert
