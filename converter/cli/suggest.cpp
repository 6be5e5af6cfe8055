#include "cli/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace bantam::cli {

namespace fs = std::filesystem;

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before;
  std::vector<size_t> last(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

std::string suggest_file(const std::string& path) {
  const fs::path wanted(path);
  std::error_code error;
  if (fs::is_directory(wanted, error)) {
    return fmt::format("it is a directory; convert it first: bantam convert {} -o FILE.bantam", path);
  }
  if (fs::exists(wanted, error)) return "check its permissions";
  const fs::path directory = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  const std::string name = wanted.filename().string();
  std::string best;
  size_t best_distance = name.size() / 3 + 1;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".bantam") continue;
    const std::string other = it->path().filename().string();
    const size_t distance = other == name + ".bantam" ? 0 : edit_distance(name, other);
    if (distance > best_distance || (distance == best_distance && !best.empty() && other >= best)) continue;
    best = other;
    best_distance = distance;
  }
  if (best.empty()) return "check the path";
  return fmt::format("did you mean {}?", wanted.has_parent_path() ? (directory / best).string() : best);
}

}  // namespace bantam::cli
