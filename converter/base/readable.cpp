#include "base/readable.h"

#include <fmt/format.h>

#include <cstdlib>

namespace bantam::convert {
namespace {

struct Unit {
  const char* name;
  double bytes;
};

constexpr Unit kUnits[] = {{"", 1},
                           {"B", 1},
                           {"kB", 1e3},
                           {"KB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"KiB", 1024},
                           {"MiB", 1024.0 * 1024},
                           {"k", 1e3},
                           {"K", 1e3},
                           {"M", 1e6},
                           {"G", 1e9},
                           {"GiB", 1024.0 * 1024 * 1024}};

}  // namespace

std::string readable_bytes(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} B", bytes);
  // From these limits on, the printed number would have four digits before the point.
  if (value < 999950) return fmt::format("{:.1f} kB", value / 1e3);
  if (value < 999950e3) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.1f} GB", value / 1e9);
}

std::optional<uint64_t> parse_bytes(std::string_view text) {
  const std::string word(text);
  char* end = nullptr;
  if (word.empty() || ((word[0] < '0' || word[0] > '9') && word[0] != '.')) return std::nullopt;
  const double number = std::strtod(word.c_str(), &end);
  std::string_view unit = end;
  if (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Unit& known : kUnits) {
    if (unit != known.name) continue;
    const double bytes = number * known.bytes;
    if (bytes >= 1 && bytes < 1e18) return static_cast<uint64_t>(bytes);
  }
  return std::nullopt;
}

}  // namespace bantam::convert
