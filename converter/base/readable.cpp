#include "base/readable.h"

#include <fmt/format.h>

namespace bantam::convert {

std::string readable_bytes(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KB", value / 1024);
  return fmt::format("{:.1f} MB", value / (1024.0 * 1024));
}

}  // namespace bantam::convert
