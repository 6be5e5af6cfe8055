#include "cli/frame/command.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

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

/// Replaces line breaks, which only wrap the source text, because the printer wraps it again.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Offer offer_of(const std::string& value) {
  if (value == "FILE.bantam") return Offer::kModels;
  if (begins(value, "FILE") || value == "DATA" || value == "RECIPE" || value == "PATH") return Offer::kFiles;
  if (value == "DIR") return Offer::kDirectories;
  return value == "COMMAND" ? Offer::kCommands : Offer::kNothing;
}

/// Returns the default name of a value of this type.
const char* usual_name(const Target& target) {
  if (std::holds_alternative<bool*>(target) || std::holds_alternative<std::monostate>(target)) return "";
  if (std::holds_alternative<float*>(target) || std::holds_alternative<double*>(target) ||
      std::holds_alternative<std::optional<float>*>(target) || std::holds_alternative<std::optional<double>*>(target)) {
    return "X";
  }
  const bool words = std::holds_alternative<std::string*>(target) || std::holds_alternative<Words*>(target) ||
                     std::holds_alternative<std::optional<std::string>*>(target) ||
                     std::holds_alternative<std::function<void(const std::string&)>>(target) ||
                     std::holds_alternative<std::function<void(const Words&)>>(target);
  return words ? "TEXT" : "N";
}

}  // namespace

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

Option& Option::value(std::string name) {
  text_.value = std::move(name);
  if (text_.words.empty()) text_.offer = offer_of(text_.value);
  return *this;
}

Option& Option::takes(Check check) {
  check_ = std::move(check);
  text_.words = check_.words;
  if (!text_.words.empty()) text_.offer = Offer::kWords;
  return *this;
}

Command::Command(std::string name, std::string summary, std::string group) {
  text_.name = std::move(name);
  text_.summary = std::move(summary);
  text_.group = std::move(group);
}

Option& Command::add(const std::string& names, Target target, std::string what) {
  OptionText text;
  text.names = split(names, ',');
  text.positional = names[0] != '-';
  text.what = one_line(std::move(what));
  text.group = heading_;
  text.repeats = std::holds_alternative<Words*>(target) || std::holds_alternative<std::vector<unsigned>*>(target) ||
                 std::holds_alternative<std::function<void(const Words&)>>(target);
  const char* name = usual_name(target);
  return options_.emplace_back(std::move(text), std::move(target)).value(name);
}

Option& Command::add_flag(const std::string& names, bool& target, std::string what) {
  return add(names, &target, std::move(what));
}

Option& Command::add_text(const std::string& name, std::optional<std::string>* text, std::string what) {
  const std::function<void(const std::string&)> take = [text](const std::string& word) { *text = word; };
  return add(name, take, std::move(what)).one_at_a_time();
}

Option& Command::add_texts(const std::string& name, Words* texts, std::string what) {
  const std::function<void(const Words&)> take = [texts](const Words& words) { *texts = words; };
  return add(name, take, std::move(what)).one_at_a_time();
}

void Command::footer(const std::string& text) {
  const auto add = [this](std::string paragraph) {
    if (paragraph.empty()) return;
    if (!begins(paragraph, "Examples:\n")) {
      text_.notes.push_back(std::move(paragraph));
      return;
    }
    for (const std::string& line : split(paragraph, '\n')) {
      if (begins(line, "  ")) text_.examples.push_back(line.substr(2));
    }
  };
  size_t begin = 0;
  for (size_t end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n", begin)) {
    add(text.substr(begin, end - begin));
    begin = end + 2;
  }
  add(text.substr(begin));
}

void Command::add_help_flags() {
  const bool shorter = !usual_.empty();
  add("-h,--help", std::monostate(), shorter ? "Print help with the usual options" : "Print help");
  if (!shorter) return;
  add("--help-all", std::monostate(), "Print help with all options");
  usual_.insert(usual_.end(), {"--help", "--help-all"});
}

void Command::bind(const std::string& positional, const std::string& value) {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& option) { return option.text().names.front() == positional; });
  *std::get<std::string*>(found->target()) = value;
  options_.erase(found);
}

bool Command::given(const std::string& name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

CommandText Command::text() const {
  CommandText text = text_;
  for (const Option& option : options_) {
    text.options.push_back(option.text());
    const std::string& name = option.text().longest_name();
    text.options.back().usual = std::find(usual_.begin(), usual_.end(), name) != usual_.end();
  }
  return text;
}

Command& Program::make_single(const std::string& command) {
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const Command& one) { return one.name() == command; });
  if (found == commands.end()) throw std::out_of_range(command);
  commands.erase(std::next(found), commands.end());
  commands.erase(commands.begin(), std::prev(commands.end()));
  single = true;
  return commands.front();
}

Manual manual_of(const Program& program) {
  Manual manual;
  manual.single = program.single;
  manual.program = program.name();
  manual.overall = program.overall.text();
  for (const Command& command : program.commands) manual.commands.push_back(command.text());
  return manual;
}

}  // namespace bantam::cli
