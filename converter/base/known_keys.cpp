#include "base/known_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace bantam::convert {

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

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const auto distance = [&](const std::string& other) { return edit_distance(name, other); };
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const std::string& a, const std::string& b) {
    return distance(a) < distance(b);
  });
  if (nearest != known.end() && distance(*nearest) <= name.size() / 3 + 1) {
    return fmt::format("did you mean \"{}\"?", *nearest);
  }
  return fmt::format("known are {}", fmt::join(known, ", "));
}

void refuse_unknown_keys(const Json& object, const std::string& where, const std::vector<std::string>& known,
                         Problems& problems) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    problems.add(ExitCode::kInvalid,
                 fmt::format("{}: \"{}\" is not known; {}", where, key.substr(0, 80), did_you_mean(key, known)));
  }
}

}  // namespace bantam::convert
