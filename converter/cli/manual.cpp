#include "cli/manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace bantam::cli {
namespace {

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Line breaks of a paragraph are where its source was wrapped: what shows it wraps it anew.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// CLI11's words for types, in those of the house.
std::string value_name(const std::string& type) {
  if (begins(type, "UINT") || begins(type, "INT")) return "N";
  if (begins(type, "FLOAT")) return "X";
  return type;
}

Offer offer_of(const std::string& value) {
  if (value == "FILE.bantam") return Offer::kModels;
  if (begins(value, "FILE") || value == "DATA" || value == "RECIPE" || value == "PATH") return Offer::kFiles;
  if (value == "DIR") return Offer::kDirectories;
  return value == "COMMAND" ? Offer::kCommands : Offer::kNothing;
}

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  text.positional = option.get_positional();
  text.required = option.get_required();
  text.what = one_line(option.get_description());
  text.group = option.get_group();
  std::string type = option.get_type_name();
  const size_t words = type.find(":{");
  if (words != std::string::npos) {
    text.words = split(type.substr(words + 2, type.find('}', words) - words - 2), '|');
    type.resize(words);
  }
  text.value = option.get_items_expected_max() == 0 ? "" : value_name(type);
  text.offer = text.words.empty() ? offer_of(text.value) : Offer::kWords;
  text.repeats = option.get_items_expected_max() > 1 ||
                 (!text.value.empty() && option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll);
  if (text.positional) {
    text.names = {option.get_name(true)};
    return text;
  }
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  return text;
}

void read_footer(const std::string& footer, CommandText* command) {
  const auto add = [command](std::string paragraph) {
    if (paragraph.empty()) return;
    if (!begins(paragraph, "Examples:\n")) {
      command->notes.push_back(std::move(paragraph));
      return;
    }
    for (const std::string& line : split(paragraph, '\n')) {
      if (begins(line, "  ")) command->examples.push_back(line.substr(2));
    }
  };
  size_t begin = 0;
  for (size_t end = footer.find("\n\n"); end != std::string::npos; end = footer.find("\n\n", begin)) {
    add(footer.substr(begin, end - begin));
    begin = end + 2;
  }
  add(footer.substr(begin));
}

CommandText text_of(const CLI::App& app) {
  CommandText command;
  command.name = app.get_name();
  command.summary = app.get_description();
  command.group = app.get_group();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) command.options.push_back(text_of(*option));
  }
  read_footer(app.get_footer(), &command);
  return command;
}

}  // namespace

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

Manual manual_of(const CLI::App& app) {
  Manual manual;
  manual.program = app.get_name();
  manual.overall = text_of(app);
  for (const CLI::App* command : app.get_subcommands(nullptr)) manual.commands.push_back(text_of(*command));
  return manual;
}

}  // namespace bantam::cli
