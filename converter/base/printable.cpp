#include "base/printable.h"

#include <nlohmann/json.hpp>

namespace bantam::convert {

std::string printable(std::string_view text) {
  // The JSON writer already knows how to replace invalid UTF-8; what is left are control characters.
  const std::string quoted =
      nlohmann::json(std::string(text)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string result;
  for (const char c : std::string_view(quoted).substr(1, quoted.size() - 2)) result += c == '\x7f' ? '?' : c;
  // Undo the escapes of printable characters.
  std::string plain;
  for (size_t i = 0; i < result.size(); ++i) {
    const bool escape = result[i] == '\\' && i + 1 < result.size() && (result[i + 1] == '"' || result[i + 1] == '\\');
    plain += result[escape ? ++i : i];
  }
  return plain;
}

}  // namespace bantam::convert
