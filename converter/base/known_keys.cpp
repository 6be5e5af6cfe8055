#include "base/known_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

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

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  constexpr size_t kShortestBeginning = 3, kLongest = 80;
  if (name.size() > kLongest) return "";  // too long for a typing mistake
  const std::string wanted = lower(name);
  std::string best;
  size_t limit = (wanted.size() + 1) / 4 + 1;
  std::vector<std::string> continued;
  for (const std::string& other : known) {
    const std::string candidate = lower(other);
    if (wanted.size() >= kShortestBeginning && candidate.rfind(wanted, 0) == 0) continued.push_back(other);
    const size_t distance = edit_distance(wanted, candidate);
    if (distance >= limit || distance >= candidate.size()) continue;
    best = other;
    limit = distance;
  }
  return best.empty() && continued.size() == 1 ? continued[0] : best;
}

std::string guess(const std::string& name, const std::vector<std::string>& known) {
  const std::string meant = nearest(name, known);
  return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  const std::string meant = nearest(name, known);
  if (!meant.empty()) return fmt::format("did you mean \"{}\"?", meant);
  return fmt::format("known are {}", fmt::join(known, ", "));
}

void refuse_unknown_keys(const Json& object, const std::string& where, const std::vector<std::string>& known,
                         Problems& problems) {
  constexpr size_t kMostShown = 8;
  size_t unknown = 0;
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (++unknown > kMostShown) continue;
    problems.add(ExitCode::kInvalid,
                 fmt::format("{}: \"{}\" is not known; {}", where, key.substr(0, 80), did_you_mean(key, known)));
  }
  if (unknown > kMostShown) {
    problems.add(ExitCode::kInvalid, fmt::format("{}: and {} more keys are not known", where, unknown - kMostShown));
  }
}

}  // namespace bantam::convert
