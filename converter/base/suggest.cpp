#include "base/suggest.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/known_keys.h"

namespace bantam::convert {

namespace fs = std::filesystem;

std::string suggest_file(const std::string& path) {
  const fs::path wanted(path);
  std::error_code error;
  if (fs::is_directory(wanted, error)) {
    return fmt::format("convert it first: bantam convert {} -o FILE.bantam", path);
  }
  if (fs::exists(wanted, error)) return "check its permissions";
  const fs::path directory = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  const std::string name = wanted.filename().string();
  std::string best;
  size_t best_distance = name.size() / 3 + 1;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".bantam") continue;
    const std::string other = it->path().filename().string();
    const size_t distance = other == name + ".bantam" ? 0 : convert::edit_distance(name, other);
    if (distance > best_distance || (distance == best_distance && !best.empty() && other >= best)) continue;
    best = other;
    best_distance = distance;
  }
  if (best.empty()) return "check the path";
  return fmt::format("did you mean {}?", wanted.has_parent_path() ? (directory / best).string() : best);
}

}  // namespace bantam::convert
