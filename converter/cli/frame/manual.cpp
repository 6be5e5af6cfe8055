#include "cli/frame/manual.h"

namespace bantam::cli {

const CommandText* Manual::find(const std::string& command) const {
  for (const CommandText& text : commands) {
    if (text.name == command) return &text;
  }
  return nullptr;
}

std::vector<std::string> Manual::command_names() const {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandText& text : commands) names.push_back(text.name);
  return names;
}

}  // namespace bantam::cli
