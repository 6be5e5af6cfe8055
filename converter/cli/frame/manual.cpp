#include "cli/frame/manual.h"

#include <algorithm>

namespace bantam::cli {

bool CommandText::has_short_help() const {
  return std::any_of(options.begin(), options.end(), [](const OptionText& option) { return option.usual; });
}

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
